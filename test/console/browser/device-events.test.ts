import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { faultsInLooks } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'

const CIRCLE = { type: 'circle', latitude: 48.2, longitude: 16.4, radius: 200 }
const MINUTE_MS = 60_000

describeConsole('events on the page of a device', () => {
  const suite = consoleSuite()
  let yardId: Promise<string> | undefined
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const begin = Date.parse(`${day}T12:00:00Z`)
  const at = (minute: number) => new Date(begin + minute * MINUTE_MS).toISOString()
  const clock = (minute: number) => at(minute).slice(11, 16)

  const report = (deviceId: string, more: object = {}) =>
    suite.report({ deviceId, latitude: 48.2, longitude: 16.4, speed: 0, ...more })

  async function facts(query: string): Promise<number> {
    const { body } = await suite.call('GET', `/facts?${query}`)
    return (body.data as { items: object[] }).items.length
  }

  /** A yard and a rule, once they are in effect. */
  function yard(): Promise<string> {
    yardId ??= (async () => {
      const { id } = await suite.made('/geofences', { name: 'Yard', shape: CIRCLE })
      const when = { field: 'temperature', above: 30 }
      const { id: ruleId } = await suite.made('/rules', { name: 'Too hot', when })
      let tries = 0
      await eventually(async () => {
        await report(`probe-${(tries += 1)}`, { attributes: { temperature: 40 } })
        return (await facts(`ruleId=${ruleId}`)) > 0 && (await facts(`geofenceId=${id}`)) > 0
      })
      return id
    })()
    return yardId
  }

  /** In the yard for ten minutes, away for twenty, then back and too hot. */
  async function visit(deviceId: string): Promise<void> {
    await yard()
    for (let minute = 0; minute <= 60; minute += 2) {
      const isAway = minute > 10 && minute < 32
      await report(deviceId, {
        timestamp: at(minute),
        ...(isAway && { latitude: 48.2 + minute / 500, speed: 12 }),
        attributes: { temperature: minute > 50 ? 40 : 20 },
      })
    }
    await eventually(async () => (await facts(`deviceId=${deviceId}&type=rule.raised`)) === 1)
  }

  const open = (deviceId: string, options = {}) =>
    suite.signedIn(`/devices/${deviceId}?day=${day}`, { timezoneId: 'UTC', ...options })

  const events = (page: Page) => page.getByRole('list', { name: 'Events' }).getByRole('button')

  test('they are listed with their times and marked on the axis, and a click goes to their time', async () => {
    await visit('van-1')
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

  test('of many events only 50 are drawn, and more on request', async () => {
    await visit('van-6')
    const page = await open('van-6')
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
    await visit('van-2')
    const page = await open('van-2')
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
    await visit('van-5')
    const page = await open('van-5')
    await events(page).first().waitFor()
    expect(await faultsInLooks(page)).toEqual([])
  })
})
