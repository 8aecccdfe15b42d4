import { readFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'
import { accessFaults } from './access-faults.ts'

const DAY = '2026-11-16'
const UTC = { timezoneId: 'UTC' }

describeConsole('trips of a device', () => {
  const suite = consoleSuite()

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
    await page.getByText('No reports from 10:20:00 to 13:00:00: its location is unknown.').waitFor()
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

  test('the trips are accessible on a phone and from right to left', async () => {
    await report('van-4')
    const page = await suite.signedIn(`/devices/van-4?day=${DAY}`, UTC)
    await page.getByRole('button', { name: /Stopped .* 20 min/ }).click()
    await page.getByRole('list', { name: 'This week' }).waitFor()
    for (const [width, colorScheme, dir] of [
      [360, 'light', 'ltr'],
      [1280, 'dark', 'rtl'],
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      await page.evaluate(`document.documentElement.dir = '${dir}'`)
      expect([width, await accessFaults(page)]).toEqual([width, []])
      const lines = await page.evaluate(
        `[...document.querySelectorAll('.distances a')].map((link) => link.getClientRects().length)`,
      )
      expect(lines).toEqual(Array(7).fill(1))
    }
  })
})
