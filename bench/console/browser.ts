import type { CDPSession, Page } from 'playwright-core'
import { launchChromium } from '../../test/console/browser/launch-chromium.ts'
import { IN_PAGE } from './in-page.ts'
import type { Service } from './service.ts'

const SIZE = { width: 1280, height: 800 }

export type ConsoleBrowser = Awaited<ReturnType<typeof openBrowser>>

/**
 * Chromium without a GPU, with contexts whose operator is signed in; `faults` collects the errors
 * that pages throw.
 */
export async function openBrowser({ adminUrl, email, password }: Service) {
  const browser = await launchChromium()
  const faults: string[] = []
  const cookies = await signedIn()

  async function signedIn() {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(adminUrl)
    await page.getByRole('textbox', { name: 'E-mail' }).fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation', { name: 'Console' }).waitFor()
    const found = await context.cookies()
    await context.close()
    return found
  }

  return {
    faults,
    /** A page in a browser context without cache or history, signed in. */
    async fresh(): Promise<Page> {
      const context = await browser.newContext({ viewport: SIZE, timezoneId: 'UTC' })
      await context.addInitScript(IN_PAGE)
      await context.addCookies(cookies)
      const page = await context.newPage()
      page.on('pageerror', ({ message }) => faults.push(`a page threw: ${message}`))
      return page
    },
    close: () => browser.close(),
  }
}

const PAINTED_WITHIN_MS = 60_000

/**
 * The time at which all the canvases have something on them, in milliseconds since the page was
 * requested; an error names those that stay empty.
 */
export function painted(page: Page, ...selectors: readonly string[]): Promise<number> {
  return page.evaluate(`bench.painted(${JSON.stringify(selectors)}, ${PAINTED_WITHIN_MS})`)
}

/** The share of a core that the page's main thread uses during `work`. */
export async function busyShare(session: CDPSession, work: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  const busy = await cpuSeconds(session)
  await work()
  return ((await cpuSeconds(session)) - busy) / ((performance.now() - begun) / 1_000)
}

/** The heap that a page uses after a garbage collection, in MB. */
export async function heapMegabytes(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return usedSize / 1e6
}

async function cpuSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'ThreadTime')?.value ?? NaN
}
