import { expect, test } from '@jest/globals'
import type { Locator } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'
import { dayName } from './day-name.ts'

const DAY = '2026-11-16'

describeConsole('the layout of a device’s page', () => {
  const suite = consoleSuite()

  const sizeOf = async (part: Locator) => {
    const { width = 0, height = 0 } = (await part.boundingBox()) ?? {}
    return { width, height }
  }

  test.each([
    [900, 600],
    [600, 420],
  ])(
    'the map has priority: in a window of %i px it gets %i, and the strip 132',
    async (window, map) => {
      const begin = Date.parse(`${DAY}T08:00:00Z`)
      await suite.report(
        ...Array.from({ length: 61 }, (_, minute) => ({
          deviceId: 'van-1',
          latitude: 46,
          longitude: 14 + (minute < 30 ? minute : Math.min(30, 60 - minute)) / 100,
          speed: 18,
          altitude: 200,
          timestamp: new Date(begin + minute * 60_000).toISOString(),
        })),
      )
      const page = await suite.signedIn(`/devices/van-1?day=${DAY}`, {
        timezoneId: 'UTC',
        viewport: { width: 1400, height: window },
      })
      await page.getByRole('slider', { name: 'Time' }).waitFor()
      await page.getByRole('img', { name: /^Speed, km.h over time/ }).waitFor()
      const height = async (selector: string) => (await sizeOf(page.locator(selector))).height
      expect(await height('.track-map')).toBeGreaterThanOrEqual(map)
      expect([await height('.day-strip-box'), await height('.strip-row')]).toEqual([132, 40])
      // Another plot appears on request.
      expect(await page.getByRole('img', { name: /^Altitude/ }).count()).toBe(0)
      await page.getByRole('combobox', { name: 'Another plot' }).selectOption('Altitude')
      await page.getByRole('img', { name: /^Altitude/ }).waitFor()
    },
  )

  test('the names of places are above the track, and the marker is above both', async () => {
    const page = await suite.signedIn(`/devices/van-1?day=${DAY}`, { timezoneId: 'UTC' })
    await page.getByRole('slider', { name: 'Time' }).waitFor()
    const layers = ['.track-canvas', '.map-names canvas', '.fleet-canvas']
    await eventually(() =>
      page.evaluate<boolean>(`(() => {
        const canvases = ${JSON.stringify(layers)}.map((one) => document.querySelector('.track-map ' + one))
        const isPainted = (canvas) =>
          canvas !== null && canvas.width > 0 &&
          canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean)
        const isPlaced = (one) => getComputedStyle(one).position === 'absolute'
        const isAbove = (above, below) =>
          (below.compareDocumentPosition(above) & 4) !== 0 && [above, below].every((one) => isPlaced(one) || isPlaced(one.parentElement))
        const [track, names, marker] = canvases
        return canvases.every(isPainted) && isAbove(names, track) && isAbove(marker, names)
      })()`),
    )
  })

  test('a window of any width shows the places of trips and stops in full, in two lines, with a title', async () => {
    await suite.report(
      ...Array.from({ length: 61 }, (_, minute) => ({
        deviceId: 'van-20',
        latitude: 48.03 + (minute < 30 ? minute : 30) / 200,
        longitude: 16.77,
        speed: minute < 30 ? 12 : 0,
        timestamp: new Date(Date.parse(`${DAY}T08:00:00Z`) + minute * 60_000).toISOString(),
      })),
    )
    const page = await suite.signedIn(`/devices/van-20?day=${DAY}`, { timezoneId: 'UTC' })
    const trips = page.getByRole('region', { name: 'Trips' })
    await trips.getByRole('button', { name: /Stopped · \w/ }).waitFor()
    for (const width of [390, 1_024, 1_280, 1_440, 1_920]) {
      await page.setViewportSize({ width, height: 900 })
      const cut = await page.evaluate<string[]>(`[...document.querySelectorAll('.trip-what')]
        .filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1)
        .map((one) => one.textContent)`)
      expect(cut).toEqual([])
      const title = await trips.locator('.trip.stop .trip-what').getAttribute('title')
      expect(title).toMatch(/^Stopped · \D+$/)
      const row = trips.getByRole('button', { name: /Stopped/ })
      const [what, time] = await Promise.all(
        ['.trip-what', '.trip-time'].map((part) => row.locator(part).boundingBox()),
      )
      expect(time?.y).toBeGreaterThan(what?.y ?? Infinity)
      const column = (await sizeOf(trips)).width
      expect(column).toBeGreaterThanOrEqual(width < 1_440 ? 21 * 16 : 24 * 16)
    }
  })

  test('trips are rows of 44 px below a fixed header, and a single Tab stop', async () => {
    const page = await suite.signedIn(`/devices/van-1?day=${DAY}`, { timezoneId: 'UTC' })
    const trips = page.getByRole('region', { name: 'Trips' })
    const head = trips.locator('.trips-head')
    await head.getByText(/^[\d.]+ km · 1 trip · 1 h$/).waitFor()
    const row = trips.getByRole('button').first()
    expect(await sizeOf(row)).toMatchObject({ height: 44 })
    expect(await trips.locator('.trip[tabindex="0"]').count()).toBe(1)
    const position = await head.evaluate(
      (element: never) =>
        (
          globalThis as never as { getComputedStyle(of: unknown): { position: string } }
        ).getComputedStyle(element).position,
    )
    expect(position).toBe('sticky')
  })

  test('no time of a trip wraps on the 12-hour clock, even with its day, at any width', async () => {
    const late = Date.parse(`${DAY}T23:40:00Z`)
    await suite.report(
      ...Array.from({ length: 30 }, (_, minute) => ({
        deviceId: 'van-12',
        latitude: 46,
        longitude: 14 + minute / 100,
        speed: 18,
        timestamp: new Date(late + minute * 60_000).toISOString(),
      })),
    )
    const page = await suite.signedIn(`/devices/van-12?day=${DAY}`, {
      timezoneId: 'UTC',
      locale: 'en-US',
    })
    for (const width of [1_400, 1_024, 360]) {
      await page.setViewportSize({ width, height: 800 })
      const trip = page.getByRole('button', { name: /^11:40 pm – Tue 17 12:09 am/ })
      await trip.scrollIntoViewIfNeeded()
      const lines = await trip.locator('.trip-time > span').all()
      const [begin, end] = await Promise.all(lines.map((line) => line.boundingBox()))
      const [row, what, more] = await Promise.all(
        [trip, trip.locator('.trip-what'), trip.locator('.trip-more')].map((one) =>
          one.boundingBox(),
        ),
      )
      if (!begin || !end || !row || !what || !more) throw new Error('a part is not shown')
      expect(begin.height).toBeLessThan(20)
      expect(end.y).toBe(begin.y)
      expect(begin.y).toBeGreaterThanOrEqual(what.y + what.height - 1)
      expect(end.y + end.height).toBeLessThanOrEqual(row.y + row.height)
      expect(end.x + end.width).toBeLessThanOrEqual(more.x)
    }
  })

  test('the calendar opens below its button, and marks no day where the whole year is chosen', async () => {
    await suite.report({ deviceId: 'van-3', latitude: 46, longitude: 14 })
    const page = await suite.signedIn('/devices/van-3?from=2026-01-01&to=2026-12-31')
    const button = page.getByRole('button', { name: 'Calendar' })
    await button.click()
    const calendar = page.getByRole('region', { name: 'Calendar' })
    await calendar.getByRole('button', { name: `${dayName(DAY)}: ` }).waitFor()
    const [below, above] = [await calendar.boundingBox(), await button.boundingBox()]
    expect((below?.y ?? 0) - (above?.y ?? 0) - (above?.height ?? 0)).toBeCloseTo(6, 0)
    expect(await calendar.locator('rect[aria-current]').count()).toBe(0)
  })

  test('until a time is chosen, the page describes the device now, afterwards at that time', async () => {
    await suite.report({ deviceId: 'van-2', latitude: 46, longitude: 14, speed: 10 })
    const page = await suite.signedIn('/devices/van-2')
    await page.getByRole('region', { name: 'Now' }).getByText('46.00000, 14.00000').waitFor()
    expect(await page.getByRole('region', { name: /^At / }).count()).toBe(0)
    await page.getByLabel('Go to a time').fill('0:00')
    await page.getByLabel('Go to a time').press('Enter')
    await page.getByRole('region', { name: 'At 00:00:00' }).waitFor()
    expect(await page.getByRole('region', { name: 'Now' }).count()).toBe(0)
  })
})
