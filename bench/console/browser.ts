import type { Page } from 'playwright-core'
import { launchChromium } from '../../test/console/browser/launch-chromium.ts'
import { KEEP_PAINTED } from '../../test/console/browser/painted.ts'
import { signIn } from '../../test/deployments.ts'

const SIZE = { width: 1280, height: 800 }
const MIDDLE = { x: 820, y: 400 }
const PIXELS = 250
const WHEEL_EVERY_MS = 60

/** Runs in a page before its own scripts. */
const IN_PAGE = `${KEEP_PAINTED}
// Small: looking at a million pixels in every frame would take most of the page's time.
const sample = new OffscreenCanvas(320, 200).getContext('2d', { willReadFrequently: true })
window.isPainted = (selector) => [...document.querySelectorAll(selector)].some((canvas) => {
  if (canvas.width === 0) return false
  sample.clearRect(0, 0, 320, 200)
  sample.drawImage(canvas, 0, 0, 320, 200)
  return new Uint32Array(sample.getImageData(0, 0, 320, 200).data.buffer).some((pixel) => pixel !== 0)
})
window.whenPainted = (selectors, withinMs) => new Promise((resolve, reject) => {
  setTimeout(reject, withinMs, new Error('nothing was painted on one of ' + selectors.join(', ')))
  const look = () => selectors.every(isPainted) ? resolve(performance.now()) : requestAnimationFrame(look)
  requestAnimationFrame(look)
})
// Until the frame times are another list.
window.countFrames = () => {
  const counted = (window.frameTimes = [])
  const frame = (now) => {
    if (frameTimes !== counted) return
    counted.push(now)
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
}`

export type ConsoleBrowser = Awaited<ReturnType<typeof openBrowser>>

/** Chromium without a GPU, with an operator signed in; `faults` collects the errors that pages throw. */
export async function openBrowser(url: string) {
  const browser = await launchChromium()
  const { session } = await signIn(url)
  const faults: string[] = []
  return {
    faults,
    /** A page in a browser context without cache or history. */
    async fresh(): Promise<Page> {
      const context = await browser.newContext({ viewport: SIZE, timezoneId: 'UTC' })
      await context.addInitScript(IN_PAGE)
      await context.addCookies([{ name: 'gps_session', value: session, url }])
      const page = await context.newPage()
      page.on('pageerror', ({ message }) => faults.push(`a page threw: ${message}`))
      return page
    },
    close: () => browser.close(),
  }
}

const PAINTED_WITHIN_MS = 60_000

/**
 * When all canvases show something, in milliseconds since the page was requested. A map also has
 * canvases that stay empty.
 */
export function awaitPaint(page: Page, selectors: readonly string[]): Promise<number> {
  // Not with waitForFunction, which the page's security policy blocks.
  return page.evaluate(`whenPainted(${JSON.stringify(selectors)}, ${PAINTED_WITHIN_MS})`)
}

/** The times between the frames of a page during `work`, in milliseconds. */
export async function framesDuring(page: Page, work: () => Promise<void>): Promise<number[]> {
  await page.evaluate('countFrames()')
  await work()
  const at = await page.evaluate<number[]>('[frameTimes, (frameTimes = [])][0]')
  return at.slice(1).map((one, n) => one - (at[n] ?? NaN))
}

/** Drags the map in circles. */
export async function drag({ mouse }: Page, ms: number): Promise<void> {
  const at = (turn: number) =>
    [MIDDLE.x + PIXELS * Math.cos(turn), MIDDLE.y + PIXELS * Math.sin(turn)] as const
  await mouse.move(...at(0))
  await mouse.down()
  const begun = performance.now()
  for (let spent = 0; spent < ms; spent = performance.now() - begun) {
    // Resolves when the page has handled it, so moves come as fast as frames.
    await mouse.move(...at((spent / 1_500) * Math.PI))
  }
  await mouse.up()
}

/** Zooms in and out again with the wheel. */
export async function wheel(page: Page, ms: number): Promise<void> {
  await page.mouse.move(MIDDLE.x, MIDDLE.y)
  const begun = performance.now()
  for (let step = 0; performance.now() - begun < ms; step += 1) {
    await page.mouse.wheel(0, step % 40 < 20 ? -60 : 60)
    await page.waitForTimeout(WHEEL_EVERY_MS)
  }
}

/** The share of a core that the page's main thread uses during `work`. */
export async function busyShare(page: Page, work: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const cpuSeconds = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'ThreadTime')?.value ?? NaN
  }
  const [begun, before] = [performance.now(), await cpuSeconds()]
  await work()
  return ((await cpuSeconds()) - before) / ((performance.now() - begun) / 1_000)
}

/** The heap that a page uses after a garbage collection, in MB. */
export async function heapMegabytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize / 1e6
}
