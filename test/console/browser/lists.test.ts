import { expect, test } from '@jest/globals'
import type { Page, Route } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'

const KEYS = 120

describeConsole('a paged list', () => {
  const suite = consoleSuite()
  let isFilled = false

  /** More entries than one page of the list holds. */
  async function audit(): Promise<Page> {
    for (let made = 0; !isFilled && made < KEYS; made += 1) {
      await suite.made('/keys', { name: `Key ${made}` })
    }
    isFilled = true
    const page = await suite.signedIn('/audit')
    await rows(page).first().waitFor()
    return page
  }

  const rows = (page: Page) => page.getByRole('table', { name: 'Audit' }).locator('tbody tr')
  const more = (page: Page) => page.getByRole('button', { name: 'Show more' })
  const nextPage = (url: URL) => url.pathname === '/api/v1/audit' && url.searchParams.has('cursor')

  async function showMore(page: Page): Promise<void> {
    await more(page).click()
    await eventually(async () => (await rows(page).count()) > 100)
  }

  test('Back finds the rows that were shown, where they were', async () => {
    const page = await audit()
    await showMore(page)
    await page.evaluate(`document.getElementById('content').scrollTop = 3000`)
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await page.goBack()
    const top = () => page.evaluate<number>(`document.getElementById('content').scrollTop`)
    await eventually(async () => (await top()) === 3000)
    expect(await rows(page).count()).toBeGreaterThan(100)
    await page.getByRole('link', { name: 'Operators', exact: true }).click()
    await page.getByRole('heading', { name: 'Operators' }).waitFor()
    expect(await top()).toBe(0)
  })

  test('the next page of a list does not appear in another list', async () => {
    const page = await audit()
    let held: Route | undefined
    await page.route(nextPage, (route) => void (held = route))
    await more(page).click()
    await eventually(() => held !== undefined)
    const predicate = (request: { url(): string }) => nextPage(new URL(request.url()))
    const ended = Promise.race([
      page.waitForEvent('requestfinished', { predicate }),
      page.waitForEvent('requestfailed', { predicate }),
    ])
    await page.getByRole('combobox', { name: 'Action', exact: true }).selectOption('Signed in')
    await eventually(async () => (await rows(page).count()) < 10)
    // The page may have cancelled its request.
    await held?.continue().catch(() => undefined)
    await ended
    await page.evaluate(
      'new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))',
    )
    expect(await rows(page).filter({ hasText: 'key.created' }).count()).toBe(0)
  })

  test('a next page that failed can be retried, and the error disappears', async () => {
    const page = await audit()
    await page.route(nextPage, (route) => route.fulfill({ status: 503 }))
    await more(page).click()
    await page.getByRole('alert').getByText('503').waitFor()
    await page.unroute(nextPage)
    await page.getByRole('button', { name: 'Retry' }).click()
    await eventually(async () => (await rows(page).count()) > 100)
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('the header of a table does not cover the target of Shift+Tab', async () => {
    await audit()
    const page = await suite.signedIn('/keys')
    const actions = page.getByRole('button', { name: /^Actions Key / })
    await actions.nth(40).press('Shift+Tab')
    for (let times = 0; times < 40; times += 1) {
      const covered = await page.evaluate<string | null>(`(() => {
        const one = document.activeElement
        const { left, top, width, height } = one.getBoundingClientRect()
        const seen = document.elementFromPoint(left + width / 2, top + height / 4)
        return one.contains(seen) ? null : one.textContent
      })()`)
      expect(covered).toBe(null)
      await page.keyboard.press('Shift+Tab')
    }
  })

  test('a response that takes longer than the refresh interval is shown', async () => {
    const page = await suite.signedIn('/audit')
    await page.clock.install()
    const held: Route[] = []
    await page.route(
      (url) => url.pathname === '/api/v1/system',
      (route) => void held.push(route),
    )
    await page.getByRole('link', { name: 'System' }).click()
    await eventually(() => held.length === 1)
    await page.clock.runFor(25_000)
    expect(held).toHaveLength(1)
    await held[0]?.continue()
    await page.clock.resume()
    await page.getByText('Dead letters').first().waitFor()
  })

  test('a fault of the console is reported as one', async () => {
    const page = await suite.signedIn('/keys')
    const json = { status: 200, data: { items: [null], nextCursor: null } }
    await page.route('**/api/v1/audit', (route) => route.fulfill({ json }))
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.getByRole('heading', { name: 'The console has failed' }).waitFor()
  })
})
