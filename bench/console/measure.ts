import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { paintedText } from '../../test/console/browser/painted.ts'
import { town } from '../../test/console/town/town.ts'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { CONSOLE_TITLE, type ConsoleFigure } from '../figures.ts'
import { median, percentiles } from '../median.ts'
import type { Order } from '../order.ts'
import type { Part, Row } from '../part.ts'
import { threeDigits } from '../table.ts'
import { busyShare, heapMegabytes, openBrowser, painted, type ConsoleBrowser } from './browser.ts'
import { growth } from './growth.ts'
import { drag, wheel } from './motion.ts'
import { startService, type Service } from './service.ts'
import { weigh } from './weight.ts'

const FLEET = ['.ol-layer canvas', '.fleet-canvas']
const TRACK = ['.ol-layer canvas', '.track-map .track-canvas']
const MOVING_MS = 4_000
const STILL_MS = 8_000
const AT_REST_MS = 4_000
const DOTS = 10
const HEAP_SAMPLES = 12

/** What was measured in the rounds, by its name. */
class Measured {
  readonly #values = new Map<ConsoleFigure, number[]>()

  add(figure: ConsoleFigure, value: number): void {
    this.#values.set(figure, [...(this.#values.get(figure) ?? []), value])
  }

  rows(): Row[] {
    return [...this.#values].map(([figure, values]) => ({ figure, value: median(values) }))
  }
}

type Run = { readonly rows: readonly Row[]; readonly faults: readonly string[] }

export async function measureConsole(order: Order): Promise<Part> {
  const all = await measureOn({}, order, measureTowns)
  const directory = await temporaryDirectory()
  const streets = join(directory.path, 'town.pmtiles')
  await writeFile(streets, town())
  const onStreets = await measureOn({ streets }, order, measureStreets)
  await directory.remove()
  const rows = [...onStreets.rows, ...all.rows]
  return { title: CONSOLE_TITLE, rows, faults: [...all.faults, ...onStreets.faults] }
}

async function measureOn(
  where: Parameters<typeof startService>[1],
  order: Order,
  measure: (browser: ConsoleBrowser, service: Service, order: Order) => Promise<Run>,
): Promise<Run> {
  order.progress('starting the service, and 10 000 devices')
  const service = await startService(order, where)
  try {
    const browser = await openBrowser(service)
    try {
      return await measure(browser, service, order)
    } finally {
      await browser.close()
    }
  } finally {
    await service.stop()
  }
}

async function measureTowns(
  browser: ConsoleBrowser,
  service: Service,
  { rounds, minutes, progress }: Order,
): Promise<Run> {
  const measured = new Measured()
  const busyDragging: number[] = []
  const trackMs: number[] = []
  const weight = await weigh()
  measured.add('JS and CSS, gzip', weight.all)
  measured.add('of it for signing in', weight.signIn)
  progress('reporting a day, a report a second')
  const day = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 86_400_000
  await service.reportDay('a-day', day)
  const stopLoad = service.startLoad()
  let page = await browser.fresh()
  for (let round = 1; round <= rounds; round += 1) {
    progress(`round ${round} of ${rounds}: first map, motion, stillness, a dot, a day`)
    await page.context().close()
    page = await browser.fresh()
    measured.add('first map', await firstMap(page, service.adminUrl))
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable')
    const dragging = async () => measured.add('p95 frame, dragging', await p95(page, drag))
    busyDragging.push(await busyShare(session, dragging))
    measured.add('p95 frame, wheel', await p95(page, wheel))
    const still = await busyShare(session, () => page.waitForTimeout(STILL_MS))
    measured.add('main thread busy, still', 100 * still)
    measured.add('report to dot', await slowestDot(page, service))
    const drawn = await drawDay(browser, service, day)
    measured.add('a day at 1 Hz drawn', drawn.dayMs)
    trackMs.push(drawn.trackMs)
  }
  progress(`watching the heap for ${minutes} minutes`)
  const hidden = await browser.fresh()
  await firstMap(hidden, service.adminUrl)
  await hidden.evaluate('bench.hide()')
  const heap = await watchHeaps({ page, hidden }, minutes)
  measured.add('heap, growth while it is watched', growth(heap.megabytes))
  measured.add('the same in a hidden tab', growth(heap.hidden))
  const others = {
    'main thread busy, dragging': `${threeDigits(100 * median(busyDragging))} %`,
    'of the day at 1 Hz, until its track is answered': `${threeDigits(median(trackMs))} ms`,
    [`heap over ${threeDigits(minutes)} minutes`]: `${heap.megabytes.map(threeDigits).join(' ')} MB`,
    'the same in a hidden tab': `${heap.hidden.map(threeDigits).join(' ')} MB`,
  }
  const texts = Object.entries(others).map(([figure, value]) => ({ figure, value }))
  const faults = [...(await stopLoad()), ...browser.faults]
  return { rows: [...measured.rows(), ...texts], faults }
}

/** The motion of the map with all devices in one town, whose streets are drawn. */
async function measureStreets(
  browser: ConsoleBrowser,
  service: Service,
  { rounds, progress }: Order,
): Promise<Run> {
  const measured = new Measured()
  const stopLoad = service.startLoad()
  for (let round = 1; round <= rounds; round += 1) {
    progress(`round ${round} of ${rounds}: motion with streets`)
    const page = await browser.fresh()
    await firstMap(page, service.adminUrl)
    await page.waitForTimeout(AT_REST_MS)
    measured.add('p95 frame, dragging, streets', await p95(page, drag))
    measured.add('p95 frame, wheel, streets', await p95(page, wheel))
    await page.context().close()
  }
  return { rows: measured.rows(), faults: [...(await stopLoad()), ...browser.faults] }
}

/** From requesting the page to base map and devices on it, in milliseconds. */
async function firstMap(page: Page, url: string): Promise<number> {
  await page.goto(url, { waitUntil: 'commit' })
  const at = await painted(page, ...FLEET)
  // Further tiles and the list's pages are not part of this measurement, nor of those that follow.
  await page.getByRole('status', { name: 'Connection' }).getByText('live').waitFor()
  return at
}

/** The 95th percentile of the times of frames, in milliseconds. */
async function p95(page: Page, move: (page: Page, ms: number) => Promise<void>): Promise<number> {
  await page.evaluate('bench.count()')
  await move(page, MOVING_MS)
  return percentiles(await page.evaluate<number[]>('bench.counted()')).p95
}

/**
 * Moves a device at sea, within the view at street level, and measures how long its label takes to
 * follow.
 */
async function slowestDot(page: Page, service: Service): Promise<number> {
  const label = 'a-ship'
  const sail = (step: number) =>
    service.report({ deviceId: label, latitude: 40 + (step % 2) / 1_000, longitude: -20 })
  await sail(0)
  await page.goto(`${service.adminUrl}/?device=${label}`)
  await page.getByRole('region', { name: 'Selected device' }).waitFor()
  await page.getByRole('status', { name: 'Connection' }).getByText('live').waitFor()
  await page.waitForTimeout(1_000)
  // Only the page's clock counts: the clocks of two processes may differ by more than the time measured.
  const pageTime = (): Promise<number> => page.evaluate('performance.now()')
  let slowest = 0
  for (let step = 1; step <= DOTS; step += 1) {
    const begun = await pageTime()
    await sail(step)
    let movedAt = 0
    while (movedAt < begun) {
      const { at = 0 } = (await paintedText(page, label)) ?? {}
      movedAt = at
      if ((await pageTime()) - begun > 10_000) return NaN
    }
    slowest = Math.max(slowest, movedAt - begun)
  }
  return slowest
}

/**
 * From requesting a day with one report a second until it is drawn, and until the API's answer alone,
 * in milliseconds.
 */
async function drawDay(browser: ConsoleBrowser, { adminUrl }: Service, day: number) {
  const page = await browser.fresh()
  const from = new Date(day).toISOString().slice(0, 10)
  // The page is opened on an empty day, so that only the day is measured.
  const before = new Date(day - 1).toISOString().slice(0, 10)
  await page.goto(`${adminUrl}/devices/a-day?day=${before}`)
  await page.getByText('No reports on this day').waitFor()
  // At first the page also reads the list of all devices.
  await page.waitForTimeout(AT_REST_MS)
  const answered = page.waitForResponse((response) => response.url().includes('/track?'))
  const nextDay = page.getByRole('button', { name: 'Next day' })
  // Clicked in the page: the driver inspects a button before it clicks, which must not count.
  const begun = await nextDay.evaluate((button: { click(): void }) => {
    const at = performance.now()
    button.click()
    return at
  })
  const dayMs = (await painted(page, ...TRACK)) - begun
  const { responseEnd } = (await answered).request().timing()
  const shown = new URL(page.url()).searchParams.get('day')
  if (shown !== from) throw new Error(`the page shows ${String(shown)}, not ${from}`)
  await page.context().close()
  return { dayMs, trackMs: responseEnd }
}

/** Megabytes after garbage collections, evenly spread over the minutes; `hidden`: of a tab behind others. */
async function watchHeaps(
  { page, hidden: behind }: { readonly page: Page; readonly hidden: Page },
  minutes: number,
) {
  const megabytes: number[] = []
  const hidden: number[] = []
  const session = await page.context().newCDPSession(page)
  const behindSession = await behind.context().newCDPSession(behind)
  for (let sample = 0; sample <= HEAP_SAMPLES; sample += 1) {
    if (sample > 0) await page.waitForTimeout((minutes * 60_000) / HEAP_SAMPLES)
    megabytes.push(await heapMegabytes(session))
    hidden.push(await heapMegabytes(behindSession))
  }
  return { megabytes, hidden }
}
