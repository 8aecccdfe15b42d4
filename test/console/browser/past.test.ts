import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { accessFaults } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'
import { fillMoment } from './fill-moment.ts'

const DAY_MS = 86_400_000
/** Yesterday. */
const DAY = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10)
const at = (clock: string) => `${DAY}T${clock}:00.000Z`

/** Metres to the north of the market hall. */
const report = (deviceId: string, clock: string, north: number) => {
  const latitude = 48.2 + north / 111_195
  return { deviceId, latitude, longitude: 16.4, timestamp: at(clock) }
}

describeConsole('the past', () => {
  const suite = consoleSuite()
  let hall: string

  beforeAll(async () => {
    await suite.report(
      report('van-1', '08:00', 5_000),
      report('van-1', '14:50', 10),
      report('van-1', '15:20', 20),
      report('van-1', '16:00', 9_000),
      report('van-2', '15:30', 6_000),
      { deviceId: 'van-3', latitude: 48.2, longitude: 16.4 },
    )
    const shape = { type: 'circle', latitude: 48.2, longitude: 16.4, radius: 200 }
    hall = (await suite.made('/geofences', { name: 'Market hall', shape })).id
    await eventually(async () => (await suite.call('GET', '/devices/van-3')).status === 200)
  })

  const rows = (page: Page) => page.getByRole('list', { name: 'Devices' }).getByRole('listitem')
  const state = (page: Page) => page.getByRole('status', { name: 'Connection' })

  test('map and list show a chosen time until the user returns to now', async () => {
    const page = await suite.signedIn('/', { timezoneId: 'UTC' })
    await deviceRow(page, 'van-3').waitFor()
    await page.getByRole('button', { name: 'Now', exact: true }).click()
    await fillMoment(page, 'Show the map as of', DAY, '15:00')
    await page.keyboard.press('Escape')
    await deviceRow(page, 'van-3').waitFor({ state: 'detached' })
    await eventually(async () => (await rows(page).count()) === 1)
    expect(new URL(page.url()).searchParams.get('at')).toBe(at('15:00'))
    expect(await state(page).innerText()).toContain('yesterday 15:00')
    await deviceRow(page, 'van-1').click()
    const card = page.getByRole('region', { name: 'Selected device' })
    await card.getByRole('link', { name: 'Market hall' }).waitFor()
    expect(await accessFaults(page)).toEqual([])
    const history = card.getByRole('link', { name: 'History and settings' })
    expect(await history.getAttribute('href')).toContain(`day=${DAY}&at=15%3A00%3A00`)

    await page.reload()
    await deviceRow(page, 'van-1').waitFor()
    const slider = page.getByRole('slider', { name: 'Time of day' })
    await slider.focus()
    for (let minutes = 0; minutes < 35; minutes += 1) await page.keyboard.press('ArrowRight')
    await deviceRow(page, 'van-2').waitFor()
    expect(new URL(page.url()).searchParams.get('at')).toBe(at('15:35'))

    await page.getByRole('button', { name: 'Now', exact: true }).click()
    await deviceRow(page, 'van-3').waitFor()
    expect(new URL(page.url()).searchParams.has('at')).toBe(false)
    expect(await state(page).innerText()).toContain('live')
  })

  test('the page lists who was in a geofence, with durations, and leads to the device’s day', async () => {
    const page = await suite.signedIn(`/geofences?geofence=${hall}`, { timezoneId: 'UTC' })
    await page.getByRole('link', { name: 'Who was here?' }).click()
    await page.getByRole('heading', { name: 'Who was here?' }).waitFor()
    await fillMoment(page, 'From', DAY, '00:00')
    await fillMoment(page, 'To', DAY, '23:00')
    const row = page.getByRole('row', { name: /van-1/ })
    await row.waitFor()
    expect(await row.innerText()).toMatch(/14:50[\s\S]*16:00[\s\S]*1 h 10 min/)
    expect(await page.getByRole('row').count()).toBe(2)
    expect(await accessFaults(page)).toEqual([])
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export as CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('visits.csv')
    await row.getByRole('link').click()
    await page.getByRole('heading', { name: /At 14:50/ }).waitFor()
  })

  test('a device’s card leads to who was around it, within a chosen radius', async () => {
    const page = await suite.signedIn(`/?device=van-1&at=${at('15:00')}`, { timezoneId: 'UTC' })
    await page.getByRole('link', { name: 'Who was here?' }).click()
    await page.getByText('48.20009, 16.40000').waitFor()
    await page.goto(`${page.url()}&from=${at('00:00')}&to=${at('23:00')}`)
    await page.getByRole('row', { name: /van-1/ }).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    const around = new URL(page.url()).searchParams
    expect(around.get('radius')).toBe('200')
    await page.getByLabel('Within').selectOption('20000')
    await page.getByRole('row', { name: /van-2/ }).waitFor()

    await page.goto(`${suite.url}/?device=van-1&at=${at('15:00')}`)
    await deviceRow(page, 'van-1').waitFor()
    await page.getByRole('application', { name: /Map/ }).press('m')
    await page.getByRole('button', { name: 'Who was here?' }).click()
    await page.getByText('48.20009, 16.40000').waitFor()
  })
})
