import axe from 'axe-core'
import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, EMAIL, follow, PASSWORD } from './console-harness.ts'

/** The links of the navigation, in their groups. */
const GROUPS = {
  Operate: ['Map', 'Events', 'Reports', 'Geofences', 'Rules', 'Notifications', 'Shared links'],
  'Set up': ['Connect a device', 'Keys', 'Operators', 'Accounts'],
  Watch: ['System', 'Rejections', 'Audit'],
}
const LINKS = Object.values(GROUPS).flat()
const IN_BAR = ['Map', 'Events', 'Connect a device']

const LONG_ID = `truck-${'X'.repeat(120)}-7`
const LONG_NAME = 'W'.repeat(64)
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString()
/** Pages that show names. */
const PATHS = [
  ...['/', `/?device=${LONG_ID}`, `/devices/${LONG_ID}`],
  ...['/shares', '/keys', '/notifications', '/rejections', '/audit'],
  '/visits?latitude=47&longitude=10&radius=1000000',
]

/** A phone, 200 % of a small window, a tablet, and wide windows of either direction. */
const WINDOWS = [
  [360, 740, 'ltr'],
  [640, 400, 'ltr'],
  [1024, 768, 'ltr'],
  [1440, 900, 'ltr'],
  [1440, 900, 'rtl'],
] as const
const DRAWN =
  'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn())))'

/** The harness's checks after each test (policy, other origins, errors) cover every page. */
describeConsole('every page', () => {
  const suite = consoleSuite()

  /** The faults that axe finds serious, light or dark, as `theme, rule: element`. */
  async function seriousFaults(page: Page): Promise<string[]> {
    await page.evaluate(axe.source)
    const found: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const faults = await page.evaluate<string[]>(
        `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
          violations
            .filter(({ impact }) => impact === 'serious' || impact === 'critical')
            .flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target.join(' '))))`,
      )
      found.push(...faults.map((fault) => `${colorScheme}, ${fault}`))
    }
    return found
  }

  async function visit(page: Page, look: (where: string) => Promise<void>): Promise<void> {
    for (const name of LINKS) {
      await follow(page, name)
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor({ state: 'attached' })
      await look(name)
    }
    await page.goto(`${suite.url}/devices/van-1`)
    await page.getByRole('heading', { name: 'Now' }).waitFor()
    await look('a device')
    await page.goto(`${suite.url}/?device=van-1`)
    await page.getByRole('region', { name: 'Selected device' }).waitFor()
    await look('a selected device')
    await page.goto(`${suite.url}/?near=48.2,16.4&q=wien`)
    await page.getByRole('region', { name: 'Chosen place' }).waitFor()
    await page.getByRole('region', { name: 'Places' }).waitFor()
    await look('a chosen place, and places found')
    await page.locator('.map-target').focus()
    await page.keyboard.press('m')
    await page.getByRole('group', { name: 'This place' }).waitFor()
    await look('the menu of a place')
    await page.goto(`${suite.url}/?at=${new Date(Date.now() - 1_000).toISOString()}`)
    await page.getByRole('slider', { name: 'Time of day' }).waitFor()
    await look('the map at a moment')
    await page.goto(`${suite.url}/visits?latitude=47&longitude=10&radius=1000000`)
    await page.getByRole('heading', { name: 'Who was here?' }).waitFor()
    await look('visits')
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

  test('every page is accessible, light and dark', async () => {
    await suite.report({
      deviceId: 'van-1',
      latitude: 48.2,
      longitude: 16.4,
      speed: 10,
      altitude: 3,
    })
    const page = await (await suite.open()).newPage()
    await page.goto(suite.url)
    const found: string[] = (await seriousFaults(page)).map((fault) => `sign in, ${fault}`)
    await suite.fillSignIn(page)
    await visit(page, async (where) => {
      found.push(...(await seriousFaults(page)).map((fault) => `${where}, ${fault}`))
    })
    expect(found).toEqual([])
  })

  test('every page has the names that external tests rely on', async () => {
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
    const visible = async () =>
      Promise.all(
        (await links.filter({ visible: true }).all()).map((link) =>
          link.getAttribute('aria-label'),
        ),
      )
    expect(await visible()).toEqual(IN_BAR)
    await page.getByRole('button', { name: 'More' }).click()
    expect((await visible()).sort()).toEqual([...LINKS].sort())
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByRole('button', { name: 'New key' }).waitFor()
    await page.getByRole('link', { name: 'Connect a device', exact: true }).click()
    await page.getByLabel('curl').check()
    await page.getByLabel('What is it called?').fill('phone')
    await page.getByRole('button', { name: 'Create a key' }).click()
    const secret = page.getByLabel('API key', { exact: true })
    expect(await secret.inputValue()).toMatch(/^gps_/)
    await page.getByRole('button', { name: 'Send a test report' }).click()
    await page.getByRole('region', { name: 'Arrival' }).getByText('arrived').waitFor()
  })

  test('a page has the chosen theme before its scripts load', async () => {
    const page = await suite.signedIn()
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('combobox', { name: 'Theme' }).selectOption('dark')
    await page.route(/assets\/index-.*\.js/, () => undefined)
    await page.reload({ waitUntil: 'commit' })
    await page.locator('body').waitFor({ state: 'attached' })
    const scheme = await page.evaluate('getComputedStyle(document.documentElement).colorScheme')
    expect(scheme).toBe('dark')
  })

  test('a wide screen labels every navigation link, in three groups', async () => {
    const page = await suite.signedIn()
    for (const [name, places] of Object.entries(GROUPS)) {
      const links = page.getByRole('group', { name }).getByRole('link')
      expect((await links.allTextContents()).sort()).toEqual([...places].sort())
    }
  })

  test('a menu in a row opens beside its button and returns the focus', async () => {
    const page = await suite.signedIn('/keys')
    const opener = page.getByRole('button', { name: 'Actions Gateway' })
    await opener.focus()
    await page.keyboard.press('Enter')
    const first = page.getByRole('button', { name: 'Devices Gateway' })
    await first.waitFor()
    const [button, item] = [await opener.boundingBox(), await first.boundingBox()]
    expect(Math.abs((button?.y ?? 0) - (item?.y ?? 1_000))).toBeLessThan(80)
    await page.keyboard.press('Tab')
    await page.locator('[popover] button:focus').getByText('Devices').waitFor()
    await page.keyboard.press('Escape')
    await first.waitFor({ state: 'hidden' })
    await page
      .locator('td > div > div > button:focus')
      .getByText('Actions')
      .waitFor({ state: 'attached' })
  })

  test('the longest names fit every page, on a phone, on a tablet, and from right to left', async () => {
    const { key } = await suite.made('/keys', { name: LONG_NAME })
    const report = { latitude: 48.2, longitude: 16.4, attributes: { [`a${'X'.repeat(63)}`]: 1 } }
    for (const latitude of [48.2, 91]) {
      await fetch(`${suite.ingestUrl}/api/v1/gps/submit`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...report, deviceId: LONG_ID, latitude }),
      })
    }
    await eventually(async () => (await suite.call('GET', `/devices/${LONG_ID}`)).status === 200)
    await suite.call('PATCH', `/devices/${LONG_ID}`, { name: LONG_NAME, labels: ['L'.repeat(32)] })
    await suite.made('/shares', { deviceIds: [LONG_ID], name: LONG_NAME, expiresAt: TOMORROW })
    const target = { kind: 'slack', url: 'https://example.org/x' }
    const notification = { name: LONG_NAME, source: 'facts', types: ['alarm.reported'], target }
    await suite.made('/subscriptions', notification)
    const page = await suite.signedIn('/')
    const wide: string[] = []
    for (const path of PATHS) {
      await page.goto(suite.url + path)
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor({ state: 'attached' })
      await page
        .getByText(/W{9}|X{9}/)
        .first()
        .waitFor({ state: 'attached' })
      for (const [width, height, direction] of WINDOWS) {
        await page.setViewportSize({ width, height })
        await page.evaluate(`document.documentElement.dir = '${direction}'`)
        await page.evaluate(DRAWN)
        const overflow = await page.evaluate<string[]>(
          `[document.documentElement, document.getElementById('content')]
            .filter((one) => one.scrollWidth > one.clientWidth)
            .map((one) => one.scrollWidth + ' > ' + one.clientWidth)`,
        )
        wide.push(...overflow.map((widths) => `${path}, ${width} px ${direction}: ${widths}`))
      }
    }
    expect(wide).toEqual([])
  })

  test('every page fits a phone: nothing scrolls sideways, every link is as large as a finger', async () => {
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
      const places = page.getByRole('navigation', { name: 'Console' }).locator('a, button')
      for (const link of await places.filter({ visible: true }).all()) {
        const box = await link.boundingBox()
        expect(box?.height).toBeGreaterThanOrEqual(44)
        expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 0) <= 360).toBe(true)
      }
    })
  })
})
