import { readFile } from 'node:fs/promises'
import { describe, expect, test } from '@jest/globals'
import type { Locator } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { faultsInLooks } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'
import { dayName } from './day-name.ts'

const DAY = '2026-11-16'
const UTC = { timezoneId: 'UTC' }

describeConsole('trips of a device and their layout', () => {
  const suite = consoleSuite()

  describe('trips of a device', () => {
    /** Drives for 30 minutes, stops for 20, drives for 10; after two hours of silence it drives again. */
    async function report(deviceId: string, day = DAY): Promise<void> {
      const begin = Date.parse(`${day}T08:00:00Z`)
      const eastward = (minute: number) => (minute < 30 ? minute : minute < 50 ? 30 : minute - 20)
      const minutes = [
        ...Array.from({ length: 61 }, (_, minute) => minute),
        ...Array.from({ length: 21 }, (_, minute) => 180 + minute),
      ]
      await suite.report(
        ...minutes.map((minute) => ({
          deviceId,
          latitude: 0,
          longitude: 10 + eastward(minute) / 100,
          speed: minute >= 30 && minute < 50 ? 0 : 18,
          accuracy: 5,
          timestamp: new Date(begin + minute * 60_000).toISOString(),
        })),
      )
    }

    test('a day’s trips, stops and gaps are listed, and a click shows one on map and plots', async () => {
      await report('van-1')
      const page = await suite.signedIn(`/devices/van-1?day=${DAY}`, UTC)
      const trips = page.getByRole('region', { name: 'Trips' })
      const list = trips.locator('.trips').getByRole('listitem')
      await list.nth(4).waitFor()
      const texts = await list.allTextContents()
      expect(texts).toEqual([
        expect.stringMatching(/^08:00 – 08:30 .*33\.4 km.*top 65 km\/h 30 min$/),
        expect.stringMatching(/^08:30 – 08:50 .*Stopped · .* 20 min$/),
        expect.stringMatching(/^08:50 – 09:00 .*11\.1 km.*top 65 km\/h 10 min$/),
        expect.stringMatching(/^09:00 – 11:00 Gap: location unknown 2 h$/),
        expect.stringMatching(/^11:00 – 11:20 .*22\.2 km.*top 65 km\/h 20 min$/),
      ])
      await page.locator('.time-band').waitFor()
      await trips.getByRole('button', { name: /Stopped .* 20 min/ }).click()
      await page.getByRole('heading', { name: 'At 08:30:00' }).waitFor()
      await page.locator('.time-band.selected').waitFor()
      await page.waitForURL((url) => url.searchParams.get('at') === '08:30:00')
      const pressed = trips.getByRole('button', { pressed: true })
      expect(await pressed.textContent()).toContain('08:30 – 08:50')
    })

    test('a silence has the same wording on the time axis and in the list of trips', async () => {
      const begin = Date.parse(`${DAY}T08:00:00Z`)
      const minutes = Array.from({ length: 11 }, (_, n) => [n, 130 + n, 300 + n]).flat()
      await suite.report(
        ...minutes.map((minute) => ({
          deviceId: 'van-6',
          latitude: 0,
          longitude: minute < 300 ? 10 : 11 + minute / 100,
          timestamp: new Date(begin + minute * 60_000).toISOString(),
        })),
      )
      const page = await suite.signedIn(`/devices/van-6?day=${DAY}&at=09:00`, UTC)
      await page.getByRole('button', { name: /Stopped .* 2 h 20 min/ }).waitFor()
      await page
        .getByText('No reports from 08:10:00 to 10:10:00: it stopped at the same place.')
        .waitFor()
      await page.getByLabel('Go to a time').fill('12:00:00')
      await page.getByLabel('Go to a time').press('Enter')
      await page
        .getByText('No reports from 10:20:00 to 13:00:00: its location is unknown.')
        .waitFor()
      await page.getByText(/^Gap: location/).waitFor()
    })

    test('a trip continues through a silence of less than an hour: on the map, in text and in totals', async () => {
      const begin = Date.parse(`${DAY}T08:00:00Z`)
      const minutes = Array.from({ length: 60 }, (_, n) => n).filter((n) => n <= 20 || n >= 47)
      await suite.report(
        ...minutes.map((minute) => ({
          deviceId: 'van-7',
          latitude: minute / 1_000,
          longitude: 10 + minute / 1_000,
          timestamp: new Date(begin + minute * 60_000).toISOString(),
        })),
      )
      const page = await suite.signedIn(`/devices/van-7?day=${DAY}&at=08:30`, UTC)
      await page.getByText('No reports from 08:20:00 to 08:47:00, on the way.').waitFor()
      await page.getByRole('button', { name: /^08:00 – 08:59 .*9\.3 km.* 59 min$/ }).waitFor()
      const track = page.getByRole('region', { name: 'Track', exact: true })
      await track.getByText('9.3 km').waitFor()
      await track.getByText('59 min').waitFor()
    })

    test('a day’s trips are saved as CSV', async () => {
      await report('van-2')
      const page = await suite.signedIn(`/devices/van-2?day=${DAY}`, UTC)
      const downloaded = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Trips as CSV' }).click()
      const file = await downloaded
      expect(file.suggestedFilename()).toBe(`van-2 ${DAY} trips.csv`)
      const lines = (await readFile(await file.path(), 'utf8')).trim().split('\r\n')
      expect(lines.map((line) => line.split(',')[0])).toEqual([
        ...['kind', 'trip', 'stop', 'trip', 'gap', 'trip'],
      ])
    })

    test('for up to a month, trips are listed with their days; a year has only distances', async () => {
      await report('van-5')
      await report('van-5', '2026-11-18')
      const page = await suite.signedIn('/devices/van-5?from=2026-11-01&to=2026-11-30', UTC)
      const trips = page.getByRole('region', { name: 'Trips' })
      await trips.getByRole('heading', { name: 'Wed 18 Nov' }).waitFor()
      await trips.getByText('08:30 – 08:50').nth(1).waitFor()
      await trips.getByRole('button', { name: /^11:20 – Wed 18 08:00/ }).waitFor()
      await page.goto(`${suite.url}/devices/van-5?from=2026-01-01&to=2026-12-31`)
      await page.getByRole('slider', { name: 'Time' }).waitFor()
      await trips.getByText('In all 133.4 km, 2 h, 6 trips').waitFor()
      expect(await trips.getByRole('button').count()).toBe(0)
    })

    test('the week of a day is visible at a glance, and links to its other days', async () => {
      await report('van-3')
      await report('van-3', '2026-11-18')
      const page = await suite.signedIn(`/devices/van-3?day=${DAY}`, UTC)
      const week = page.getByRole('list', { name: 'This week' })
      await week.getByText('66.7 km').nth(1).waitFor()
      expect(await week.getByRole('listitem').allTextContents()).toEqual([
        ...[
          expect.stringMatching(/^Mon 16 Nov66\.7 km, /),
          expect.stringMatching(/^Tue 17.*no trips/),
        ],
        ...[
          expect.stringMatching(/^Wed 18 Nov66\.7 km, /),
          expect.stringMatching(/^Thu 19.*no trips/),
        ],
        ...[expect.stringMatching(/^Fri 20.*no trips/), expect.stringMatching(/^Sat 21.*no trips/)],
        expect.stringMatching(/^Sun 22.*no trips/),
      ])
      await page.getByText('In all 133.4 km, 2 h, 6 trips').waitFor()
      const asked: string[] = []
      page.on('request', (request) => {
        const { pathname, searchParams } = new URL(request.url())
        if (pathname.endsWith('/trips')) asked.push(searchParams.get('from') ?? '')
      })
      await week.getByRole('link', { name: 'Wed 18 Nov' }).click()
      await page.getByRole('heading', { name: 'Wed 18 Nov' }).waitFor()
      await week
        .getByRole('link', { name: 'Wed 18 Nov' })
        .and(page.locator('[aria-current]'))
        .waitFor()
      await week.getByText('66.7 km').nth(1).waitFor()
      // Requests of the day alone: the week is cached.
      expect(asked).toEqual(['2026-11-18T00:00:00.000Z'])
    })

    test('the trips are accessible on a phone, and from right to left', async () => {
      const page = await suite.signedIn(`/devices/van-1?day=${DAY}`, UTC)
      await page.getByRole('button', { name: /Stopped .* 20 min/ }).click()
      await page.getByRole('list', { name: 'This week' }).waitFor()
      const lines = () =>
        page.evaluate(
          `[...document.querySelectorAll('.distances a')].map((link) => link.getClientRects().length)`,
        )
      expect(await faultsInLooks(page, [['light', 360]])).toEqual([])
      expect(await lines()).toEqual(Array(7).fill(1))
      await page.evaluate(`document.documentElement.dir = 'rtl'`)
      expect(await faultsInLooks(page, [['dark', 1_280]])).toEqual([])
      expect(await lines()).toEqual(Array(7).fill(1))
    })
  })

  describe('the layout of a device’s page', () => {
    const sizeOf = async (part: Locator) => {
      const { width = 0, height = 0 } = (await part.boundingBox()) ?? {}
      return { width, height }
    }

    test('the map has priority: in a window of 900 px it gets 600, of 600 px 420, and the strip 132', async () => {
      const begin = Date.parse(`${DAY}T08:00:00Z`)
      await suite.report(
        ...Array.from({ length: 61 }, (_, minute) => ({
          deviceId: 'lay-1',
          latitude: 46,
          longitude: 14 + (minute < 30 ? minute : Math.min(30, 60 - minute)) / 100,
          speed: 18,
          altitude: 200,
          timestamp: new Date(begin + minute * 60_000).toISOString(),
        })),
      )
      const page = await suite.signedIn(`/devices/lay-1?day=${DAY}`, UTC)
      await page.getByRole('slider', { name: 'Time' }).waitFor()
      await page.getByRole('img', { name: /^Speed, km.h over time/ }).waitFor()
      const height = async (selector: string) => (await sizeOf(page.locator(selector))).height
      for (const [window, map] of [
        [900, 600],
        [600, 420],
      ] as const) {
        await page.setViewportSize({ width: 1_400, height: window })
        expect(await height('.track-map')).toBeGreaterThanOrEqual(map)
        expect([await height('.day-strip-box'), await height('.strip-row')]).toEqual([132, 40])
      }
      // Another plot appears on request.
      expect(await page.getByRole('img', { name: /^Altitude/ }).count()).toBe(0)
      await page.getByRole('combobox', { name: 'Another plot' }).selectOption('Altitude')
      await page.getByRole('img', { name: /^Altitude/ }).waitFor()
    })

    test('the names of places are above the track, and the marker is above both', async () => {
      const page = await suite.signedIn(`/devices/lay-1?day=${DAY}`, UTC)
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

    test('every window shows the places of trips and stops in full, in two lines, with a title', async () => {
      await suite.report(
        ...Array.from({ length: 61 }, (_, minute) => ({
          deviceId: 'lay-20',
          latitude: 48.03 + (minute < 30 ? minute : 30) / 200,
          longitude: 16.77,
          speed: minute < 30 ? 12 : 0,
          timestamp: new Date(Date.parse(`${DAY}T08:00:00Z`) + minute * 60_000).toISOString(),
        })),
      )
      const page = await suite.signedIn(`/devices/lay-20?day=${DAY}`, UTC)
      const trips = page.getByRole('region', { name: 'Trips' })
      await trips.getByRole('button', { name: /Stopped · \w/ }).waitFor()
      const title = await trips.locator('.trip.stop .trip-what').getAttribute('title')
      expect(title).toMatch(/^Stopped · \D+$/)
      const row = trips.getByRole('button', { name: /Stopped/ })
      for (const width of [390, 1_024, 1_280, 1_440, 1_920]) {
        await page.setViewportSize({ width, height: 900 })
        const cut = await page.evaluate<string[]>(`[...document.querySelectorAll('.trip-what')]
          .filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1)
          .map((one) => one.textContent)`)
        expect([width, cut]).toEqual([width, []])
        const [what, time] = await Promise.all(
          ['.trip-what', '.trip-time'].map((part) => row.locator(part).boundingBox()),
        )
        expect(time?.y).toBeGreaterThan(what?.y ?? Infinity)
        const column = (await sizeOf(trips)).width
        expect(column).toBeGreaterThanOrEqual(width < 1_440 ? 21 * 16 : 24 * 16)
      }
    })

    test('trips are rows of 44 px below a fixed header, and a single Tab stop', async () => {
      const page = await suite.signedIn(`/devices/lay-1?day=${DAY}`, UTC)
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
      await suite.report({ deviceId: 'lay-3', latitude: 46, longitude: 14 })
      const page = await suite.signedIn('/devices/lay-3?from=2026-01-01&to=2026-12-31')
      const button = page.getByRole('button', { name: 'Calendar' })
      await button.click()
      const calendar = page.getByRole('region', { name: 'Calendar' })
      await calendar.getByRole('button', { name: `${dayName(DAY)}: ` }).waitFor()
      const [below, above] = [await calendar.boundingBox(), await button.boundingBox()]
      expect((below?.y ?? 0) - (above?.y ?? 0) - (above?.height ?? 0)).toBeCloseTo(6, 0)
      expect(await calendar.locator('rect[aria-current]').count()).toBe(0)
    })

    test('until a time is chosen, the page describes the device now, afterwards at that time', async () => {
      await suite.report({ deviceId: 'lay-2', latitude: 46, longitude: 14, speed: 10 })
      const page = await suite.signedIn('/devices/lay-2')
      await page.getByRole('region', { name: 'Now' }).getByText('46.00000, 14.00000').waitFor()
      expect(await page.getByRole('region', { name: /^At / }).count()).toBe(0)
      await page.getByLabel('Go to a time').fill('0:00')
      await page.getByLabel('Go to a time').press('Enter')
      await page.getByRole('region', { name: 'At 00:00:00' }).waitFor()
      expect(await page.getByRole('region', { name: 'Now' }).count()).toBe(0)
    })
  })
})
