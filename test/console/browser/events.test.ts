import { readFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { faultsInLooks, PHONE_LOOKS } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'

const CIRCLE = { type: 'circle', latitude: 48.2, longitude: 16.4, radius: 200 }
const MINUTE_MS = 60_000

describeConsole('the events page', () => {
  const suite = consoleSuite()

  const events = (page: Page) => page.getByRole('list', { name: 'Events' }).getByRole('listitem')

  const report = (deviceId: string, more: object = {}) =>
    suite.report({ deviceId, latitude: 48.2, longitude: 16.4, ...more })

  async function facts(query: string): Promise<readonly object[]> {
    const { body } = await suite.call('GET', `/facts?${query}`)
    return (body.data as { items: object[] }).items
  }

  /** Definitions apply within 5 s: a device reports until they do. */
  async function isApplied(geofenceId: string): Promise<void> {
    let tries = 0
    await eventually(async () => {
      await report(`probe-${geofenceId}-${(tries += 1)}`)
      return (await facts(`geofenceId=${geofenceId}&limit=1`)).length > 0
    })
  }

  test('a visit is listed in two sentences, and a click shows the place and the track around it', async () => {
    const { id } = await suite.made('/geofences', { name: 'Yard', shape: CIRCLE })
    await isApplied(id)
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
    const { id } = await suite.made('/geofences', { name: 'Late', shape: CIRCLE })
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
    expect(await events(page).allTextContents()).not.toContainEqual(expect.stringMatching('bus-2'))
  })

  test('the filters are in the address; geofence and rule share a filter, as no event is about both', async () => {
    const { id: geofenceId } = await suite.made('/geofences', { name: 'Harbour', shape: CIRCLE })
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
    const when = { field: 'speed', above: 20 }
    const { id } = await suite.made('/rules', { name: 'Over 72', when })
    let tries = 0
    await eventually(async () => {
      await report(`racer-${(tries += 1)}`, { speed: 25 })
      return (await facts(`ruleId=${id}&limit=1`)).length > 0
    })
    const page = await suite.signedIn(`/events?ruleId=${id}`, { locale: 'en' })
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

  test('it is accessible, by keyboard and on a phone, light and dark', async () => {
    await report('van-9', { attributes: { alarm: 'sos' } })
    const page = await suite.signedIn('/events', { viewport: { width: 390, height: 800 } })
    await events(page).first().waitFor()
    expect(await faultsInLooks(page, PHONE_LOOKS)).toEqual([])
    await events(page).first().getByRole('link').focus()
    await page.keyboard.press('Enter')
    await page.waitForURL((url) => url.pathname.startsWith('/devices/'))
  })
})
