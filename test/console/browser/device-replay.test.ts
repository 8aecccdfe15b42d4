import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { accessFaults } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'

const DAY = '2026-11-16'
const UTC = { timezoneId: 'UTC' }

describeConsole('replaying and printing a day', () => {
  const suite = consoleSuite()

  /** Parked until 07:00, drives for 20 minutes, is parked until 12:00, and drives on for 10. */
  async function report(deviceId: string, latitude = 46): Promise<void> {
    const begin = Date.parse(`${DAY}T00:15:00Z`)
    const minutes = Array.from({ length: 720 }, (_, n) => n).filter(
      (n) => n % 15 === 0 || drives(n),
    )
    await suite.report(
      ...minutes.map((minute) => ({
        deviceId,
        latitude,
        longitude: 14 + driven(minute) / 100,
        speed: drives(minute) ? 13 : 0,
        timestamp: new Date(begin + minute * 60_000).toISOString(),
      })),
    )
  }
  const drives = (minute: number) =>
    (minute >= 405 && minute <= 425) || (minute >= 705 && minute <= 715)
  const driven = (minute: number) =>
    Math.min(20, Math.max(0, minute - 405)) + Math.min(10, Math.max(0, minute - 705))

  /** Pixels of the track's canvas as opaque as a highlighted line. */
  const solidPixels = (page: Page) =>
    page.evaluate<number>(`(() => {
      const canvas = document.querySelector('.track-canvas')
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      let count = 0
      for (let n = 3; n < data.length; n += 4) if (data[n] === 255) count += 1
      return count
    })()`)

  test('play starts with the first trip, skips stops, and says so', async () => {
    await report('van-1')
    const page = await suite.signedIn(`/devices/van-1?day=${DAY}`, UTC)
    await page
      .getByRole('button', { name: /Stopped/ })
      .first()
      .waitFor()
    const slider = page.getByRole('slider', { name: 'Time' })
    const hour = async () => new Date(Number(await slider.inputValue())).getUTCHours()
    await page.getByRole('combobox', { name: 'Replay speed' }).selectOption('60')
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.getByText('▶▶ to 07:00').waitFor()
    await eventually(async () => (await hour()) === 7)
    await page.getByRole('combobox', { name: 'Replay speed' }).selectOption('600')
    await page.getByText('▶▶ to 12:00').waitFor()
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
  })

  test('a selected trip, and the tail of a replay, stand out from the rest of the track', async () => {
    await report('van-2')
    const page = await suite.signedIn(`/devices/van-2?day=${DAY}`, UTC)
    await page
      .getByRole('button', { name: /11\.\d km|7\.\d km/ })
      .first()
      .waitFor()
    await eventually(async () => (await solidPixels(page)) > 500)
    const all = await solidPixels(page)
    await page.getByRole('combobox', { name: 'Replay speed' }).selectOption('10')
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await eventually(async () => (await solidPixels(page)) < all / 2)
    const tail = await solidPixels(page)
    await page.getByRole('button', { name: 'Pause' }).click()
    // The map has followed the marker, so a part of the track is beyond its edge.
    await eventually(async () => (await solidPixels(page)) > 2 * tail)
    await page.getByRole('button', { name: /7\.\d km/ }).click()
    await eventually(async () => (await solidPixels(page)) > 500)
  })

  test('other devices named in the address are replayed with it', async () => {
    await report('van-3')
    await report('van-4', 46.1)
    const page = await suite.signedIn(`/devices/van-3?day=${DAY}`, UTC)
    await page.getByRole('button', { name: 'Other devices in the replay' }).click()
    await page.getByRole('combobox', { name: 'Replay with' }).fill('van-4')
    const read = page.waitForResponse(/devices\/van-4\/track/)
    await page.getByRole('option', { name: 'van-4' }).click()
    await read
    await page.waitForURL((url) => url.searchParams.get('with') === 'van-4')
    expect(await accessFaults(page)).toEqual([])
    // Other days have the same devices.
    await page.getByRole('button', { name: 'Previous day' }).click()
    await page.waitForURL((url) => url.searchParams.get('day') === '2026-11-15')
    await page.getByRole('button', { name: 'Next day' }).click()
    await page.getByRole('button', { name: 'Other devices in the replay 1' }).click()
    await page.getByRole('button', { name: 'Remove van-4' }).click()
    await page.waitForURL((url) => !url.searchParams.has('with'))
  })

  test('devices chosen on the map are replayed together', async () => {
    await report('van-7')
    await report('van-8', 46.1)
    const page = await suite.signedIn('/', UTC)
    await deviceRow(page, 'van-8').waitFor()
    await page.getByRole('button', { name: 'List options' }).click()
    await page.getByRole('button', { name: 'Select devices' }).click()
    for (const device of ['van-7', 'van-8']) {
      await deviceRow(page, device).getByRole('checkbox').check()
    }
    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    await page.waitForURL(/devices\/van-7\?with=van-8$/)
    await page.getByRole('heading', { name: 'van-7' }).waitFor()
  })

  test('a replay of a year skips its stops', async () => {
    await report('van-9')
    const page = await suite.signedIn('/devices/van-9?from=2026-01-01&to=2026-12-31', UTC)
    await page.getByText(/^In all .* 2 trips$/).waitFor()
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.getByText('▶▶ to 07:00').waitFor()
  })

  test('a day is printed on one page, with its name, map, totals and trips, and no navigation', async () => {
    await report('van-5')
    const page = await suite.signedIn(`/devices/van-5?day=${DAY}`, { ...UTC, colorScheme: 'dark' })
    await page.getByRole('button', { name: 'Print' }).waitFor()
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`)
    await page.emulateMedia({ media: 'print' })
    for (const [selector, isShown] of [
      ['h1', true],
      ['.day-picker > .on-paper-only', true],
      ['.track-map', true],
      ['.trips-head', true],
      ['.trip', true],
      ['.on-paper-only', true],
      ['.rail', false],
      ['.day-strip-box', false],
    ] as const) {
      expect([selector, await page.locator(selector).first().isVisible()]).toEqual([
        selector,
        isShown,
      ])
    }
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('light')
    await page.emulateMedia({ media: 'screen' })
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`)
    await page.locator('.rail').waitFor()
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1')
    expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
  })

  test('a printed list has all its rows', async () => {
    const page = await suite.signedIn('/audit', UTC)
    await page.getByRole('table').waitFor()
    await page.emulateMedia({ media: 'print' })
    const overflow = await page.evaluate(
      `getComputedStyle(document.getElementById('content')).overflow`,
    )
    expect(overflow).toBe('visible')
    expect(await page.locator('.rail').isVisible()).toBe(false)
  })

  test('the places of a week are shown as circles with their hours, and as a list', async () => {
    await report('van-6')
    const page = await suite.signedIn('/devices/van-6?from=2026-11-16&to=2026-11-22', UTC)
    const places = page.getByRole('list', { name: 'Places' }).getByRole('listitem')
    await places.nth(1).waitFor()
    expect(await places.first().textContent()).toMatch(/6 h 45 min, 1 stop$/)
    expect(await accessFaults(page)).toEqual([])
  })
})
