import { expect, test } from '@jest/globals'
import { faultsInLooks } from './access-faults.ts'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'
import { dayName } from './day-name.ts'

const HOUR = 3_600_000
const UTC = { timezoneId: 'UTC' }

describeConsole('a year of a device', () => {
  const suite = consoleSuite()

  /** Four reports an hour apart, 111 km north of each other, from 10:00 of each day. */
  async function report(deviceId: string, ...days: readonly string[]): Promise<void> {
    await suite.report(
      ...days.flatMap((day) =>
        [0, 1, 2, 3].map((hour) => ({
          deviceId,
          latitude: 40 + hour,
          longitude: 16,
          timestamp: new Date(Date.parse(`${day}T10:00:00Z`) + hour * HOUR).toISOString(),
        })),
      ),
    )
  }

  test('a calendar of the year shows the days with reports, and opens one by mouse or keys', async () => {
    await report('van-1', '2026-03-02', '2026-03-03', '2026-07-20')
    const page = await suite.signedIn('/devices/van-1?day=2026-03-03', UTC)
    await page.getByRole('button', { name: 'Calendar' }).click()
    const calendar = page.getByRole('region', { name: 'Calendar' })
    await calendar.getByText('12 reports in 2026').waitFor()
    await calendar.getByRole('button', { name: `${dayName('2026-07-20')}: 4 reports` }).click()
    await page.getByRole('heading', { name: 'Mon 20 Jul' }).waitFor()
    await calendar.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Calendar' }).click()
    await calendar.getByRole('button', { name: `${dayName('2026-07-20')}: 4 reports` }).focus()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sun 12 Jul' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Mon 20 Jul' }).waitFor()
  })

  test('the calendar shows no number of reports before they are counted', async () => {
    await report('van-20', '2026-03-02')
    const page = await suite.signedIn('/devices/van-20?day=2026-03-02', UTC)
    await page.getByRole('button', { name: 'Calendar' }).waitFor()
    await page.route('**/activity?*', () => undefined)
    await page.getByRole('button', { name: 'Calendar' }).click()
    await page.getByRole('region', { name: 'Calendar' }).getByText('… in 2026').waitFor()
  })

  test('zooming in draws the part of a long track that the map shows more finely', async () => {
    const begin = Date.parse('2026-03-02T00:00:00Z')
    const reports = Array.from({ length: 6_000 }, (_, n) => ({
      deviceId: 'van-30',
      latitude: 40 + n / 20_000,
      // Irregular, so that straight lines cannot approximate it.
      longitude: 16 + Math.sin(n * n) / 200,
      timestamp: new Date(begin + n * 10_000).toISOString(),
    }))
    for (let n = 0; n < 6_000; n += 1_000) await suite.report(...reports.slice(n, n + 1_000))
    const page = await suite.signedIn('/devices/van-30?day=2026-03-02', UTC)
    const left = await page.getByTitle(/within \d+ m of the line$/).getAttribute('title')
    const whole = Number(/within (\d+) m/.exec(left ?? '')?.[1])
    type Answer = { data: { toleranceMetres: number; total: number; rows: unknown[] } }
    let finer: Answer['data'] | undefined
    page.on('response', async (response) => {
      if (!response.url().includes('within=')) return
      // A cancelled response has no body.
      const answer = (await response.json().catch(() => undefined)) as Answer | undefined
      if (answer === undefined) return
      const { data } = answer
      if (data.toleranceMetres < whole / 2) finer ??= data
    })
    // A click while the map still moves zooms less.
    const data = await eventually(
      async () => {
        if (finer === undefined) await page.getByRole('button', { name: 'Zoom in' }).click()
        return finer
      },
      { everyMs: 1_000 },
    )
    expect(data.total).toBe(6_000)
    expect(data.rows.length).toBeGreaterThan(10)
  })

  test('a week, a month, a year or any days have one track, totals and exports', async () => {
    await report('van-2', '2026-03-02', '2026-03-04', '2026-03-20', '2026-08-01')
    const page = await suite.signedIn('/devices/van-2?day=2026-03-04', UTC)
    const track = page.getByRole('region', { name: 'Track' })
    const reports = () => track.locator('.track-summary').textContent()
    await page.getByRole('slider', { name: 'Time' }).waitFor()
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'Calendar' }).click()
      await page.getByRole('region', { name: 'Calendar' }).getByRole('button', { name }).click()
    }
    await choose('Week')
    await page.getByRole('heading', { name: '2 – 8 Mar' }).waitFor()
    await page.getByRole('heading', { name: 'At 13:00:00, Wed 4 Mar' }).waitFor()
    expect(await reports()).toMatch(/ · 8 reports$/)
    await choose('Month')
    await page.getByRole('heading', { name: 'At 13:00:00, Fri 20 Mar' }).waitFor()
    expect(await reports()).toMatch(/ · 12 reports$/)
    const geojson = await page.getByRole('link', { name: 'GEOJSON' }).getAttribute('href')
    expect(geojson).toContain('from=2026-03-01T00%3A00%3A00.000Z&to=2026-04-01T00%3A00%3A00.000Z')
    await page.getByRole('slider', { name: 'Time' }).press('ArrowLeft')
    await page.waitForURL((url) => url.searchParams.get('at') === '2026-03-20T12:00:00')
    await page.reload()
    await page.getByRole('heading', { name: 'At 12:00:00, Fri 20 Mar' }).waitFor()
    await choose('Year 2026')
    await page.getByRole('heading', { name: '2026', exact: true }).waitFor()
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
    expect(await reports()).toMatch(/ · 16 reports$/)
    await page.getByRole('button', { name: 'Previous days' }).click()
    await page.getByText('No reports on these days').waitFor()
    await page.getByRole('button', { name: 'Calendar' }).click()
    await page.getByLabel('From').fill('2026-03-20')
    await page.getByLabel('To', { exact: true }).fill('2026-03-03')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('heading', { name: '3 – 20 Mar' }).waitFor()
    await page.getByRole('heading', { name: 'At 13:00:00, Fri 20 Mar' }).waitFor()
    expect(await reports()).toMatch(/ · 8 reports$/)
  })

  test('more than a month shows distances by month, loaded one at a time, latest first', async () => {
    await report('van-4', '2026-04-30', '2026-05-02', '2026-05-20', '2026-07-10')
    const page = await suite.signedIn('/keys', UTC)
    const asked: string[] = []
    let open = 0
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (!pathname.endsWith('/trips')) return
      open += 1
      asked.push(`${searchParams.get('from')?.slice(0, 10)} ${open}`)
    })
    page.on('requestfinished', (request) => {
      if (new URL(request.url()).pathname.endsWith('/trips')) open -= 1
    })
    await page.goto(`${suite.url}/devices/van-4?from=2026-05-01&to=2026-07-31`)
    const trips = page.getByRole('region', { name: 'Trips' })
    await trips.getByText('In all 1,000.8 km, 9 h, 3 trips').waitFor()
    const months = trips.getByRole('list', { name: 'Distances' }).getByRole('listitem')
    expect(await months.allTextContents()).toEqual([
      'May 2026667.2 km, 6 h',
      'Jun 2026no trips',
      'Jul 2026333.6 km, 3 h',
    ])
    expect(asked).toEqual(['2026-07-10 1', '2026-05-02 1'])
    await months.getByRole('link', { name: 'May 2026' }).click()
    await trips.getByText('In all 667.2 km, 6 h, 2 trips').waitFor()
    await trips.getByRole('link', { name: 'Wed 20 May' }).waitFor()
  })

  test('the calendar shows distances instead of reports on request, and remembers the choice', async () => {
    await report('van-5', '2026-05-02', '2026-07-10')
    await suite.report({
      deviceId: 'van-5',
      latitude: 1,
      longitude: 1,
      timestamp: '2026-07-11T10:00:00Z',
    })
    const page = await suite.signedIn('/devices/van-5?day=2026-05-02', UTC)
    const calendar = page.getByRole('region', { name: 'Calendar' })
    await page.getByRole('button', { name: 'Calendar' }).click()
    await calendar.getByText('9 reports in 2026').waitFor()
    await calendar.getByRole('button', { name: 'Distance' }).click()
    await calendar.getByText('667.2 km in 2026').waitFor()
    await calendar.getByRole('button', { name: `${dayName('2026-07-11')}: 1 report` }).waitFor()
    expect(await calendar.locator('.shade-4').count()).toBe(2)
    await page.reload()
    await page.getByRole('button', { name: 'Calendar' }).click()
    await calendar
      .getByRole('button', { name: `${dayName('2026-07-10')}: 333.6 km, 4 reports` })
      .click()
    await page.getByRole('heading', { name: 'Fri 10 Jul' }).waitFor()
  })

  test('the calendar fits and is accessible on a phone, and from right to left', async () => {
    await report('van-3', '2026-11-20')
    const page = await suite.signedIn('/devices/van-3?from=2026-11-01&to=2026-11-30', UTC)
    const calendar = page.getByRole('region', { name: 'Calendar' })
    const shown = calendar.getByRole('button', { name: `${dayName('2026-11-20')}: 333.6 km` })
    for (const [width, colorScheme, direction] of [
      [360, 'light', 'ltr'],
      [1_280, 'dark', 'rtl'],
    ] as const) {
      await page.setViewportSize({ width, height: 740 })
      // It scrolls to the chosen days as it opens.
      await page.reload()
      await page.evaluate(`document.documentElement.dir = '${direction}'`)
      await page.getByRole('button', { name: 'Calendar' }).click()
      await calendar.getByRole('button', { name: 'Distance' }).click()
      await calendar.getByText('333.6 km in 2026').waitFor()
      for (const one of [calendar, shown]) {
        const { x = -1, width: wide = 0 } = (await one.boundingBox()) ?? {}
        expect([width, x >= 0 && x + wide <= width]).toEqual([width, true])
      }
      expect(await faultsInLooks(page, [[colorScheme, width]])).toEqual([])
    }
  })
})
