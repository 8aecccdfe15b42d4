import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { faultsInLooks, ON_PHONE } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'

const CIRCLE = { type: 'circle', latitude: 48.2, longitude: 16.4, radius: 200 }
const ELSEWHERE = { ...CIRCLE, latitude: 10 }
const MINUTE_MS = 60_000

describeConsole('events', () => {
  const suite = consoleSuite()
  let fastId = ''

  const report = (deviceId: string, more: object = {}) =>
    suite.report({ deviceId, latitude: 48.2, longitude: 16.4, speed: 0, ...more })

  async function facts(query: string): Promise<readonly object[]> {
    const { body } = await suite.call('GET', `/facts?${query}`)
    return (body.data as { items: object[] }).items
  }

  /** A yard and two rules, once they are in effect, which takes up to 5 s. */
  beforeAll(async () => {
    const rule = async (name: string, field: string, above: number) =>
      (await suite.made('/rules', { name, when: { field, above } })).id
    await suite.made('/geofences', { name: 'Yard', shape: CIRCLE })
    await rule('Too hot', 'temperature', 30)
    fastId = await rule('Over 72', 'speed', 20)
    let tries = 0
    await eventually(async () => {
      await report(`racer-${(tries += 1)}`, { speed: 25, attributes: { temperature: 40 } })
      const told = await facts(`deviceId=racer-${tries}`)
      return told.length === 4
    })
  })

  describe('the events page', () => {
    const events = (page: Page) => page.getByRole('list', { name: 'Events' }).getByRole('listitem')

    test('a visit is listed in two sentences, and a click shows the place and the track around it', async () => {
      const begin = Date.now() - 3 * 3_600_000
      const at = (minutes: number) => new Date(begin + minutes * MINUTE_MS).toISOString()
      await report('van-7', { timestamp: at(0) })
      await report('van-7', { latitude: 48.3, timestamp: at(130) })
      await eventually(async () => (await facts('deviceId=van-7')).length === 3)
      expect((await suite.call('PATCH', '/devices/van-7', { name: 'Van 7' })).status).toBe(200)
      const page = await suite.signedIn('/events?deviceId=van-7', { timezoneId: 'UTC' })
      await events(page).filter({ hasText: 'Van 7 left Yard after 2 h 10 min' }).waitFor()
      await events(page).filter({ hasText: 'Van 7 entered Yard' }).waitFor()
      await events(page).filter({ hasText: 'Van 7 reported for the first time' }).waitFor()
      await events(page).getByRole('link', { name: 'Van 7 left Yard' }).click()
      await page.getByRole('heading', { name: `At ${at(130).slice(11, 19)}` }).waitFor()
      expect(new URL(page.url()).pathname).toBe('/devices/van-7')
    })

    test('the five filters are in one row of a window of 1400 px', async () => {
      const page = await suite.signedIn('/events', { viewport: { width: 1400, height: 900 } })
      const fields = page.getByRole('search').locator('.field')
      await fields.first().waitFor()
      const boxes = await Promise.all((await fields.all()).map((field) => field.boundingBox()))
      expect(boxes.length).toBe(5)
      expect(new Set(boxes.map((box) => box?.y)).size).toBe(1)
    })

    test('a filter being typed stays when the names of geofences arrive', async () => {
      const { id } = await suite.made('/geofences', { name: 'Late', shape: ELSEWHERE })
      let answer = () => {}
      const asked = new Promise<void>((resolve) => (answer = resolve))
      const page = await suite.signedIn('/')
      await page.route('**/api/v1/geofences/names', async (route) => {
        await asked
        await route.continue()
      })
      await page.goto(`${suite.url}/events?geofenceId=${id}`)
      const filter = page.getByRole('combobox', { name: 'Device or label' })
      await filter.fill('van-typed')
      answer()
      const named = page.getByRole('combobox', { name: 'Geofence or rule' })
      await eventually(async () => (await named.inputValue()) === 'Late')
      expect(await filter.inputValue()).toBe('van-typed')
    })

    test('a new event appears by itself, unless the filters exclude it', async () => {
      await report('bus-1')
      const page = await suite.signedIn('/events?deviceId=bus-1')
      await events(page).filter({ hasText: 'bus-1 reported for the first time' }).waitFor()
      await report('bus-2', { attributes: { alarm: 'powerCut' } })
      await report('bus-1', { attributes: { alarm: 'powerCut' } })
      await events(page).filter({ hasText: 'bus-1 reported an alarm: power cut' }).waitFor()
      expect(await events(page).allTextContents()).not.toContainEqual(
        expect.stringMatching('bus-2'),
      )
    })

    test('the filters are in the address; geofence and rule share a filter, as no event is about both', async () => {
      const { id: geofenceId } = await suite.made('/geofences', {
        name: 'Harbour',
        shape: ELSEWHERE,
      })
      const when = { field: 'speed', above: 10 }
      const { id: ruleId } = await suite.made('/rules', { name: 'Too fast', when })
      const page = await suite.signedIn('/events')
      const filter = page.getByRole('combobox', { name: 'Geofence or rule' })
      await filter.fill('harb')
      await page.getByRole('option', { name: 'Harbour' }).click()
      await page.waitForURL((url) => url.searchParams.get('geofenceId') === geofenceId)
      expect(await filter.inputValue()).toBe('Harbour')
      await filter.fill('rule fast')
      await page.getByRole('option', { name: 'Rule Too fast' }).click()
      await page.waitForURL((url) => url.searchParams.get('ruleId') === ruleId)
      expect(new URL(page.url()).searchParams.has('geofenceId')).toBe(false)
      expect(await filter.inputValue()).toBe('Rule Too fast')
      await page.getByRole('heading', { name: 'No events match these filters' }).waitFor()
      await page.getByRole('button', { name: 'Show all' }).click()
      await page.waitForURL((url) => url.search === '')
    })

    test('the value that raised a rule has the operator’s unit, and its line starts like all others', async () => {
      const page = await suite.signedIn(`/events?ruleId=${fastId}`, { locale: 'en' })
      await events(page).filter({ hasText: 'Over 72 · 90 km/h' }).first().waitFor()
      await page.goto(`${suite.url}/events`)
      await events(page).filter({ hasText: 'Over 72 · 90 km/h' }).first().waitFor()
      const first = events(page).filter({ hasText: /racer-\d+ reported for the first time/ })
      await first.first().waitFor()
      const times = await page.locator('.events a > :nth-child(2)').all()
      const boxes = await Promise.all(times.map((time) => time.boundingBox()))
      expect(new Set(boxes.map((box) => box?.x)).size).toBe(1)
    })

    test('the filtered events are saved as CSV', async () => {
      await report('csv-1', { latitude: 50 })
      await eventually(async () => (await facts('deviceId=csv-1')).length === 1)
      const page = await suite.signedIn('/events?deviceId=csv-1')
      const downloaded = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Export as CSV' }).click()
      const text = await readFile(await (await downloaded).path(), 'utf8')
      expect(text.trim().split('\r\n')).toEqual([
        expect.stringMatching(/^Time \(.+\),Device,Device id,Event,/),
        expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,csv-1,csv-1,Device came online,/),
      ])
    })

    test('typing finds a device by its name, and devices by a label', async () => {
      await report('found-12', { latitude: 52 })
      await eventually(async () => (await facts('deviceId=found-12')).length === 1)
      await suite.call('PATCH', '/devices/found-12', { name: 'Lorry Twelve', labels: ['heavy'] })
      const page = await suite.signedIn('/events')
      const filter = page.getByRole('combobox', { name: 'Device or label' })
      await filter.fill('twelve')
      await page.getByRole('option', { name: 'Lorry Twelve' }).waitFor()
      await filter.press('Enter')
      await page.waitForURL((url) => url.searchParams.get('deviceId') === 'found-12')
      await events(page).filter({ hasText: 'Lorry Twelve' }).first().waitFor()
      expect(await filter.inputValue()).toBe('Lorry Twelve')
      await filter.fill('heavy')
      await page.getByRole('option', { name: 'Label heavy' }).click()
      await page.waitForURL((url) => url.searchParams.get('label') === 'heavy')
      expect(new URL(page.url()).searchParams.has('deviceId')).toBe(false)
      await events(page).filter({ hasText: 'Lorry Twelve' }).first().waitFor()
      await filter.fill('')
      await filter.press('Enter')
      await page.waitForURL((url) => url.search === '')
    })

    test('a day as the end of a range includes that day', async () => {
      await report('last-day', { latitude: 51 })
      await eventually(async () => (await facts('deviceId=last-day')).length === 1)
      const [fact] = await facts('deviceId=last-day')
      const day = String((fact as unknown as { at: string }).at).slice(0, 10)
      const page = await suite.signedIn('/events?deviceId=last-day', { timezoneId: 'UTC' })
      await page.getByLabel('To', { exact: true }).fill(day)
      await page.waitForURL((url) => url.searchParams.has('to'))
      await events(page).filter({ hasText: 'last-day' }).first().waitFor()
      expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe(day)
      expect(await page.getByLabel('To, time of day').inputValue()).toBe('')
    })

    test('it is accessible and fits a phone, light and dark, and a key opens an event', async () => {
      await report('van-9', { attributes: { alarm: 'sos' } })
      const page = await suite.signedIn('/events', { viewport: { width: 390, height: 800 } })
      await events(page).first().waitFor()
      expect(await faultsInLooks(page, ON_PHONE)).toEqual([])
      await events(page).first().getByRole('link').focus()
      await page.keyboard.press('Enter')
      await page.waitForURL((url) => url.pathname.startsWith('/devices/'))
    })
  })

  describe('events on the page of a device', () => {
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
    const begin = Date.parse(`${day}T12:00:00Z`)
    const at = (minute: number) => new Date(begin + minute * MINUTE_MS).toISOString()
    const clock = (minute: number) => at(minute).slice(11, 16)

    /** In the yard for ten minutes, away for twenty, then back and too hot. */
    async function visit(deviceId: string): Promise<void> {
      await suite.report(
        ...Array.from({ length: 31 }, (_, index) => {
          const minute = 2 * index
          const isAway = minute > 10 && minute < 32
          return {
            deviceId,
            latitude: isAway ? 48.2 + minute / 500 : 48.2,
            longitude: 16.4,
            speed: isAway ? 9 : 0,
            timestamp: at(minute),
            attributes: { temperature: minute > 50 ? 40 : 20 },
          }
        }),
      )
      await eventually(
        async () => (await facts(`deviceId=${deviceId}&type=rule.raised`)).length === 1,
      )
    }

    beforeAll(() => visit('van-1'))

    const open = (deviceId: string) =>
      suite.signedIn(`/devices/${deviceId}?day=${day}`, { timezoneId: 'UTC' })

    const events = (page: Page) => page.getByRole('list', { name: 'Events' }).getByRole('button')

    test('they are listed with their times and marked on the axis, and a click goes to their time', async () => {
      const page = await open('van-1')
      await events(page).nth(3).waitFor()
      expect(await events(page).allTextContents()).toEqual([
        `${clock(52)}Too hot`,
        `${clock(32)}Entered Yard`,
        `${clock(12)}Left Yard after 12 min`,
        `${clock(0)}Entered Yard`,
      ])
      await eventually(async () => (await page.locator('.time-mark').count()) === 4)
      await events(page).filter({ hasText: 'Left Yard' }).click()
      await page.getByRole('heading', { name: `At ${at(12).slice(11, 19)}` }).waitFor()
    })

    test('only 50 of many events are drawn, and more on request', async () => {
      const page = await open('van-1')
      await page.route(/\/facts\?/, async (route) => {
        const response = await route.fetch()
        const { data } = (await response.json()) as { data: { items: object[] } }
        const items = Array.from({ length: 60 }, (_, id) => ({ ...data.items[0], id: String(id) }))
        await route.fulfill({ response, json: { data: { ...data, items } } })
      })
      await page.reload()
      const more = page.getByRole('button', { name: 'Show more' })
      await more.waitFor()
      expect(await events(page).count()).toBe(50)
      await more.click()
      await events(page).nth(59).waitFor()
      expect(await more.count()).toBe(0)
    })

    test('the day’s stops have the visits with their durations', async () => {
      const page = await open('van-1')
      const stops = page.getByRole('region', { name: 'Trips' }).getByRole('button')
      const name = (text: string) => new RegExp(`Stopped .*Yard ${text}`)
      await stops
        .and(page.getByRole('button', { name: name(`${clock(0)} – ${clock(12)} · 12 min`) }))
        .waitFor()
      await stops.and(page.getByRole('button', { name: name(`${clock(32)} – now`) })).waitFor()
    })

    test('header and card show its geofences and raised rules, and follow changes', async () => {
      await visit('van-3')
      const page = await open('van-3')
      const standings = page.getByRole('list', { name: 'Raised rules and geofences' })
      await standings.getByRole('listitem').filter({ hasText: 'Yard since' }).waitFor()
      await standings.getByRole('listitem').filter({ hasText: 'Too hot since' }).waitFor()
      await report('van-3', { attributes: { temperature: 10 } })
      await standings.getByText('Too hot').waitFor({ state: 'detached' })
      await page.goto(`${suite.url}/devices/van-3`)
      await events(page).filter({ hasText: 'Too hot ended after' }).waitFor()
      await page.goto(`${suite.url}/?device=van-3`)
      await deviceRow(page, 'van-3').waitFor()
      const card = page.getByRole('region', { name: 'Selected device' })
      await card.getByRole('link', { name: 'Yard' }).waitFor()
      const item = `document.querySelector('.selected-card .standings li')`
      expect(await page.evaluate(`getComputedStyle(${item}).borderTopStyle`)).toBe('solid')
    })

    test('a stop becomes a geofence', async () => {
      for (let minute = 0; minute <= 10; minute += 2) {
        await report('van-4', { latitude: 49, timestamp: at(minute) })
      }
      await eventually(async () => (await suite.call('GET', '/devices/van-4')).status === 200)
      const page = await open('van-4')
      const trips = page.getByRole('region', { name: 'Trips' })
      await trips
        .getByRole('button', { name: /Stopped/ })
        .last()
        .click()
      await trips.getByRole('link', { name: 'Name this place' }).click()
      const form = page.getByRole('region', { name: 'New geofence' })
      expect(await form.getByLabel('Centre').inputValue()).toBe('49, 16.4')
      await form.getByLabel('Name').fill('Customer')
      await page.getByRole('button', { name: 'Save' }).click()
      const made = page.getByRole('region', { name: 'Selected geofence' })
      await made.getByText('Circle of 60 m').waitFor()
    })

    test('it is accessible and fits, light and dark', async () => {
      const page = await open('van-1')
      await events(page).first().waitFor()
      expect(await faultsInLooks(page)).toEqual([])
    })
  })
})
