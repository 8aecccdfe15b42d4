import type { Page } from 'playwright-core'
import { paintedText } from '../../test/console/browser/painted.ts'
import { CONSOLE_TITLE, type ConsoleFigure } from '../figures.ts'
import { progress } from '../fork.ts'
import { median, percentiles } from '../statistics.ts'
import type { Order } from '../order.ts'
import type { Part } from '../part.ts'
import {
  busyShare,
  drag,
  framesDuring,
  heapMegabytes,
  openBrowser,
  awaitPaint,
  wheel,
} from './browser.ts'
import type { ConsoleBrowser } from './browser.ts'
import { startFleet, type MovingFleet } from './fleet.ts'
import { growth } from '../statistics.ts'

const FLEET = ['.ol-layer canvas', '.fleet-canvas']
const TRACK = ['.ol-layer canvas', '.track-map .track-canvas']
const MOVING_MS = 4_000
const STILL_MS = 8_000
const AT_REST_MS = 4_000
const DOTS = 10
const HEAP_SAMPLES = 12
const DAY_MS = 86_400_000
/** The day before today, UTC. */
const YESTERDAY = (Math.floor(Date.now() / DAY_MS) - 1) * DAY_MS

type Measured = Omit<Order, 'adapters'> & {
  readonly fleet: MovingFleet
  readonly browser: ConsoleBrowser
}

/** The measurements of each round, on one page after the other. */
const FIGURES: readonly [ConsoleFigure, (page: Page, measured: Measured) => Promise<number>][] = [
  ['first map', (page, { fleet }) => firstMap(page, fleet)],
  ['p95 frame, dragging', (page) => p95(page, drag)],
  ['p95 frame, wheel', (page) => p95(page, wheel)],
  [
    'main thread busy, still',
    async (page) => 100 * (await busyShare(page, () => page.waitForTimeout(STILL_MS))),
  ],
  ['report to dot', (page, { fleet }) => slowestDot(page, fleet)],
  ['a day at 1 Hz drawn', (_, measured) => drawDay(measured)],
]

export async function measureConsole({ adapters, ...order }: Order): Promise<Part> {
  progress('starting the service, and 10 000 devices')
  const fleet = await startFleet(adapters)
  const browser = await openBrowser(fleet.adminUrl)
  try {
    progress('reporting a day, a report a second')
    await fleet.reportDay('a-day', YESTERDAY)
    const stopLoad = fleet.startLoad()
    const rows = await measureFigures({ ...order, fleet, browser })
    return { title: CONSOLE_TITLE, rows, faults: [...(await stopLoad()), ...browser.faults] }
  } finally {
    await browser.close()
    await fleet.stop()
  }
}

async function measureFigures(measured: Measured) {
  const { rounds, minutes, browser, fleet } = measured
  const values = FIGURES.map((): number[] => [])
  let page = await browser.fresh()
  for (let round = 1; round <= rounds; round += 1) {
    await page.context().close()
    page = await browser.fresh()
    for (const [n, [figure, measure]] of FIGURES.entries()) {
      progress(`round ${round} of ${rounds}: ${figure}`)
      values[n]?.push(await measure(page, measured))
    }
  }
  progress(`watching the heap for ${minutes} minutes`)
  const hidden = await browser.fresh()
  await firstMap(hidden, fleet)
  await hidden.evaluate(HIDE)
  const [seen, behind] = await watchHeaps([page, hidden], minutes)
  return [
    ...FIGURES.map(([figure], n) => ({ figure, value: median(values[n] ?? []) })),
    { figure: 'heap, growth while it is watched', value: growth(seen ?? []) },
    { figure: 'the same in a hidden tab', value: growth(behind ?? []) },
  ]
}

/** From requesting the page to base map and devices on it, in milliseconds. */
async function firstMap(page: Page, { adminUrl }: MovingFleet): Promise<number> {
  await page.goto(adminUrl, { waitUntil: 'commit' })
  const at = await awaitPaint(page, FLEET)
  // Further tiles and the list's pages count neither in this measurement nor in the following ones.
  await isLive(page)
  return at
}

function isLive(page: Page): Promise<void> {
  return page.getByRole('status', { name: 'Connection' }).getByText('live').waitFor()
}

/** The 95th percentile of frame times, in milliseconds. */
async function p95(page: Page, move: (page: Page, ms: number) => Promise<void>): Promise<number> {
  return percentiles(await framesDuring(page, () => move(page, MOVING_MS))).p95
}

/**
 * Moves a device at sea, within the view at street level, and measures how long its label takes to
 * follow.
 */
async function slowestDot(page: Page, fleet: MovingFleet): Promise<number> {
  const label = 'a-ship'
  const sail = (step: number) =>
    fleet.report({ deviceId: label, latitude: 40 + (step % 2) / 1_000, longitude: -20 })
  await sail(0)
  await page.goto(`${fleet.adminUrl}/?device=${label}`)
  await page.getByRole('region', { name: 'Selected device' }).waitFor()
  await isLive(page)
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

/** From requesting a day with one report a second until it is drawn, in milliseconds. */
async function drawDay({ browser, fleet }: Measured): Promise<number> {
  const page = await browser.fresh()
  const [before, day] = [YESTERDAY - 1, YESTERDAY].map((at) =>
    new Date(at).toISOString().slice(0, 10),
  )
  // The page is opened on an empty day, so that only the day is measured.
  await page.goto(`${fleet.adminUrl}/devices/a-day?day=${before}`)
  await page.getByText('No reports on this day').waitFor()
  // At first the page also reads the list of all devices.
  await page.waitForTimeout(AT_REST_MS)
  // Clicked in the page: the driver inspects a button before clicking, which must not count.
  const begun = await page
    .getByRole('button', { name: 'Next day' })
    .evaluate((button: { click(): void }) => {
      const at = performance.now()
      button.click()
      return at
    })
  const drawnAt = await awaitPaint(page, TRACK)
  const shown = new URL(page.url()).searchParams.get('day')
  if (shown !== day) throw new Error(`the page shows ${shown}, not ${day}`)
  await page.context().close()
  return drawnAt - begun
}

/** Like a tab in the background: no frames. */
const HIDE = `Object.defineProperty(document, 'hidden', { get: () => true })
Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })
window.requestAnimationFrame = () => 0
document.dispatchEvent(new Event('visibilitychange'))`

/** Megabytes of each page, evenly spread over the minutes. */
async function watchHeaps(pages: readonly Page[], minutes: number): Promise<number[][]> {
  const megabytes = pages.map((): number[] => [])
  for (let sample = 0; sample <= HEAP_SAMPLES; sample += 1) {
    if (sample > 0) await pages[0]?.waitForTimeout((minutes * 60_000) / HEAP_SAMPLES)
    for (const [n, page] of pages.entries()) megabytes[n]?.push(await heapMegabytes(page))
  }
  return megabytes
}
