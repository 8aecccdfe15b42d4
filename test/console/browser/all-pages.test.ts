import axe from 'axe-core'
import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow, EMAIL, PASSWORD } from './console-harness.ts'

const LINKS = [
  ...['Map', 'Keys', 'Connect a device', 'Rejections', 'Audit', 'Operators', 'System'],
  'Accounts',
]

/** The harness's checks after each test (policy, other origins, errors) cover every page. */
describeConsole('every page', () => {
  const suite = consoleSuite()

  /** The faults that axe finds serious, as `rule: element`. */
  async function seriousFaults(page: Page): Promise<string[]> {
    await page.evaluate(axe.source)
    return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' '))))`)
  }

  async function linkNames(page: Page): Promise<string[]> {
    const links = page.getByRole('navigation', { name: 'Console' }).getByRole('link')
    await links.first().waitFor()
    return Promise.all(
      (await links.all()).map(async (link) => (await link.getAttribute('aria-label')) ?? ''),
    )
  }

  async function visit(page: Page, look: (where: string) => Promise<void>): Promise<void> {
    for (const name of await linkNames(page)) {
      await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name }).click()
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor({ state: 'attached' })
      await look(name)
    }
    await page.goto(`${suite.url}/devices/van-1`)
    await page.getByRole('heading', { name: 'Last position' }).waitFor()
    await look('a device')
    await page.goto(`${suite.url}/?device=van-1`)
    await deviceRow(page, 'van-1').waitFor()
    await look('a selected device')
  }

  test('every page has its styles in the order of their layers', async () => {
    const page = await (await suite.open()).newPage()
    await page.goto(suite.url)
    await page.getByLabel('E-mail').waitFor()
    const layers = await page.evaluate(`[...new Set([...document.styleSheets]
      .flatMap(({ cssRules }) => [...cssRules])
      .flatMap((rule) => rule.nameList ?? (rule instanceof CSSLayerBlockRule ? [rule.name] : [])))]`)
    expect(layers).toEqual(['tokens', 'base', 'controls', 'parts', 'pages'])
  })

  test.each(['light', 'dark'] as const)(
    'every page is in order for assistive technology: %s',
    async (theme) => {
      await suite.report({
        deviceId: 'van-1',
        latitude: 48.2,
        longitude: 16.4,
        speed: 10,
        altitude: 3,
      })
      const context = await suite.open({ colorScheme: theme })
      const page = await context.newPage()
      await page.goto(suite.url)
      const found: string[] = (await seriousFaults(page)).map((fault) => `sign in, ${fault}`)
      await suite.fillSignIn(page)
      await visit(page, async (where) => {
        found.push(...(await seriousFaults(page)).map((fault) => `${where}, ${fault}`))
      })
      expect(found).toEqual([])
    },
  )

  test('every page has the names by which tests from outside find their way', async () => {
    await suite.report({ deviceId: 'van-1', latitude: 48.2, longitude: 16.4 })
    const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
    const page = await (await suite.open(phone)).newPage()
    await page.goto(suite.url)
    await page.getByRole('textbox', { name: 'E-mail' }).fill(EMAIL)
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    const list = page.getByRole('list', { name: 'Devices' })
    await list.getByRole('listitem').filter({ hasText: 'van-1' }).waitFor()
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor()
    const links = page.getByRole('navigation').getByRole('link')
    for (const name of LINKS) {
      expect(await links.and(page.getByRole('link', { name, exact: true })).isVisible()).toBe(true)
    }
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByRole('button', { name: 'New key' }).waitFor()
    await page.getByRole('link', { name: 'Connect a device', exact: true }).click()
    await page.getByRole('button', { name: 'Make a key' }).click()
    const secret = page.getByLabel('API key', { exact: true })
    expect(await secret.inputValue()).toMatch(/^gps_/)
    await page.getByRole('button', { name: 'Send a test report' }).click()
    await page.getByRole('region', { name: 'Arrival' }).getByText('arrived').waitFor()
  })

  test('a page is in the chosen theme before its scripts have come', async () => {
    const page = await suite.signedIn()
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('combobox', { name: 'Theme' }).selectOption('dark')
    await page.route(/assets\/index-.*\.js/, () => undefined)
    await page.reload({ waitUntil: 'commit' })
    await page.locator('body').waitFor({ state: 'attached' })
    const scheme = await page.evaluate('getComputedStyle(document.documentElement).colorScheme')
    expect(scheme).toBe('dark')
  })

  test('every page fits a phone: nothing scrolls sideways, every link stays in sight', async () => {
    await suite.report({ deviceId: 'van-1', latitude: 48.2, longitude: 16.4 })
    const page = await suite.signedIn('/', {
      viewport: { width: 360, height: 740 },
      isMobile: true,
      hasTouch: true,
    })
    await visit(page, async (where) => {
      const widths = await page.evaluate(
        `[document.documentElement, document.getElementById('content')].map((one) => one.scrollWidth)`,
      )
      expect([where, widths]).toEqual([where, [360, 360]])
      for (const name of await linkNames(page)) {
        const link = page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name })
        const box = await link.boundingBox()
        expect(box?.height).toBeGreaterThanOrEqual(44)
        expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 0) <= 360).toBe(true)
      }
    })
  })
})
