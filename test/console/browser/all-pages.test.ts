import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { accessFaults, faultsInLooks } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, EMAIL, PASSWORD } from './console-harness.ts'
import { smallButtons, tabThrough, watchCalls } from './tab-key.ts'

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
const NAMED = [
  ...['/', `/?device=${LONG_ID}`, `/devices/${LONG_ID}`],
  ...['/shares', '/keys', '/notifications', '/rejections', '/audit'],
  '/visits?latitude=47&longitude=10&radius=1000000',
]

/** A phone, 200 % of a small window, a tablet, and wide windows. */
const SCREENS = [
  [360, 740, 'ltr'],
  [640, 400, 'ltr'],
  [1_024, 768, 'ltr'],
  [1_440, 900, 'ltr'],
  [1_440, 900, 'rtl'],
] as const

/** A Tuesday. */
const DAY = '2026-03-10'
/** Each page, with a text that it shows once it has its content. */
const PAGES = {
  '/': 'tab-11',
  '/?device=tab-03': 'History and settings',
  '/?near=48.2,16.4&q=wien': 'Wien',
  [`/?at=${DAY}T12:00:00Z`]: 'As of',
  [`/devices/tab-00?day=${DAY}`]: 'At 10:04:00',
  '/devices/none': 'No device',
  [`/visits?latitude=47&longitude=10&radius=500&from=${DAY}T00:00:00Z&to=${DAY}T12:00:00Z`]:
    'tab-00',
  '/events': 'tab-11',
  '/reports': 'tab-11',
  '/geofences': 'Yard',
  '/rules': 'Low',
  '/notifications': 'Night desk',
  '/shares': 'Customer',
  '/connect': 'curl',
  '/keys': 'Gateway',
  '/operators': 'ana@example.org',
  '/accounts': 'yours',
  '/system': 'Dead letters',
  '/rejections': 'latitude',
  '/audit': 'Customer',
  '/no/such/page': 'No such page',
}

/** The harness's checks after each test (policy, other origins, errors) cover every page. */
describeConsole('every page', () => {
  const suite = consoleSuite()
  let pages: readonly (readonly [path: string, text: string])[]
  let yardId = ''

  beforeAll(async () => {
    await suite.report(
      ...Array.from({ length: 12 }, (_, index) => ({
        deviceId: `tab-${String(index).padStart(2, '0')}`,
        latitude: 47,
        longitude: 10 + index / 10,
      })),
      ...Array.from({ length: 5 }, (_, index) => ({
        deviceId: 'tab-00',
        latitude: 47,
        longitude: 10 + index / 10,
        speed: 10,
        altitude: 3,
        timestamp: `${DAY}T10:0${index}:00Z`,
      })),
    )
    const { key } = await suite.made('/keys', { name: 'Broken tracker' })
    await suite.submit(key, { deviceId: 'tab-00', latitude: 91, longitude: 10 })
    await eventually(async () => (await suite.call('GET', '/devices/tab-11')).status === 200)
    await suite.call('PATCH', '/devices/tab-03', { labels: ['north'] })
    const share = { deviceIds: ['tab-00', 'tab-03'], name: 'Customer', expiresAt: TOMORROW }
    const { token } = await suite.made('/shares', share)
    const shape = { type: 'circle', latitude: 47, longitude: 10, radius: 100 }
    yardId = (await suite.made('/geofences', { name: 'Yard', shape })).id
    await suite.made('/rules', { name: 'Low', when: { field: 'battery', below: 0.2 } })
    const target = { kind: 'slack', url: 'https://example.org/x' }
    const fields = { name: 'Night desk', source: 'facts', types: ['alarm.reported'], target }
    const { id } = await suite.made('/subscriptions', fields)
    pages = [
      ...Object.entries(PAGES),
      [`/notifications/${id}`, 'Nothing was sent'],
      [`/share#${token}`, 'Customer'],
    ]
  })

  /** The faults of each page, as `path: fault`. */
  async function faultsOf(page: Page, look: (path: string) => Promise<readonly string[]>) {
    const answersDrawn = watchCalls(page)
    const faults: string[] = []
    for (const [path, text] of pages) {
      await page.goto(suite.url + path)
      await page.getByText(text).first().waitFor({ state: 'attached' })
      await answersDrawn()
      faults.push(...(await look(path)).map((fault) => `${path}: ${fault}`))
      // The navigation is the same on each page.
      const part = path === '/' ? 'body' : '#content'
      faults.push(...(await faultsOfKeys(page, part)).map((fault) => `${path}: ${fault}`))
    }
    return faults
  }

  /** Goes through a page and its menus with Tab. */
  async function faultsOfKeys(page: Page, part: string): Promise<string[]> {
    await page.evaluate(`document.querySelectorAll('details').forEach((one) => (one.open = true))`)
    const faults = (await smallButtons(page)).map((fault) => `small: ${fault}`)
    faults.push(...(await tabThrough(page, part)))
    const openers = page.locator(`${part} button[popovertarget]:not([popover] *)`)
    const inMenu = page.locator(':popover-open').locator('a, button, input')
    for (const opener of await openers.filter({ visible: true }).all()) {
      const menu = `menu of ${String(await opener.ariaSnapshot())}`
      await opener.press('Enter')
      await inMenu.first().waitFor()
      for (const key of ['Tab', 'Escape']) await page.keyboard.press(key)
      const id = String(await opener.getAttribute('popovertarget'))
      if (!(await page.evaluate(`document.activeElement.matches('[popovertarget="${id}"]')`))) {
        faults.push(`${menu}: Esc does not give the focus back`)
      }
      await opener.press('Enter')
      await inMenu.first().waitFor()
      faults.push(...(await smallButtons(page)).map((fault) => `${menu}: small: ${fault}`))
      faults.push(...(await tabThrough(page)).map((fault) => `${menu}: ${fault}`))
    }
    return faults
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

  test('every page is accessible, light and dark, and Tab reaches each control and shows the focus', async () => {
    const page = await (await suite.open({ timezoneId: 'UTC' })).newPage()
    await page.goto(suite.url)
    await page.getByLabel('Password').waitFor()
    const looks = [
      ['light', 1_280],
      ['dark', 1_280],
    ] as const
    const found = (await faultsInLooks(page, looks)).map((fault) => `sign in, ${fault}`)
    await suite.fillSignIn(page)
    await page.getByRole('navigation', { name: 'Console' }).waitFor()
    found.push(...(await faultsOf(page, () => faultsInLooks(page, looks))))
    await page.goto(suite.url)
    await page.locator('.map-target').focus()
    await page.keyboard.press('m')
    await page.getByRole('group', { name: 'This place' }).waitFor()
    found.push(...(await accessFaults(page)).map((fault) => `the menu of a place, ${fault}`))
    expect(found).toEqual([])
  })

  test('every page fits a phone: nothing scrolls sideways, every link is as large as a finger, Tab reaches each control', async () => {
    const viewport = { width: 360, height: 740 }
    const options = { viewport, isMobile: true, hasTouch: true, timezoneId: 'UTC' }
    const page = await suite.signedIn('/', options)
    const places = page.getByRole('navigation', { name: 'Console' }).locator('a, button')
    const faults = await faultsOf(page, async () => {
      const widths = await page.evaluate<number[]>(
        `['html', '#content'].map((one) => document.querySelector(one)?.scrollWidth ?? 360)`,
      )
      const found = widths.filter((width) => width !== 360).map((width) => `is ${width} px wide`)
      for (const link of await places.filter({ visible: true }).all()) {
        const { x = -1, width = 0, height = 0 } = (await link.boundingBox()) ?? {}
        if (height < 44 || x < 0 || x + width > 360) {
          found.push(`a link misses the finger: ${String(await link.textContent())}`)
        }
      }
      return found
    })
    expect(faults).toEqual([])
  })

  test('every page has the names that external tests rely on', async () => {
    const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
    const page = await (await suite.open(phone)).newPage()
    await page.goto(suite.url)
    await page.getByRole('textbox', { name: 'E-mail' }).fill(EMAIL)
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    const list = page.getByRole('list', { name: 'Devices' })
    await list.getByRole('listitem').filter({ hasText: 'tab-00' }).waitFor()
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
      for (const link of await links.all()) {
        expect(Object.keys(PAGES)).toContain(await link.getAttribute('href'))
      }
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

  test('the longest names fit every page on all screens, from right to left too', async () => {
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
    const faults: string[] = []
    for (const path of NAMED) {
      await page.goto(suite.url + path)
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor({ state: 'attached' })
      await page
        .getByText(/W{9}|X{9}/)
        .first()
        .waitFor({ state: 'attached' })
      for (const [width, height, direction] of SCREENS) {
        await page.setViewportSize({ width, height })
        const wide = await page.evaluate<string[]>(`(async () => {
          document.documentElement.dir = '${direction}'
          await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))
          return [document.documentElement, document.getElementById('content')]
            .filter((one) => one.scrollWidth > one.clientWidth)
            .map((one) => one.scrollWidth + ' > ' + one.clientWidth)
        })()`)
        faults.push(...wide.map((widths) => `${path}, ${width} px, ${direction}: ${widths}`))
      }
    }
    expect(faults).toEqual([])
  })

  test('a viewer sees every page of theirs, and no control that changes anything', async () => {
    const email = 'vera@example.org'
    await suite.made('/operators', { email, password: PASSWORD, role: 'viewer' })
    const sos = { deviceId: 'tab-05', latitude: 47, longitude: 10.5, attributes: { alarm: 'sos' } }
    await suite.report(sos)
    await suite.call('PATCH', '/devices/tab-06', { disabled: true })
    const page = await (await suite.open()).newPage()
    await page.goto(suite.url)
    await suite.fillSignIn(page, PASSWORD, email)
    const buttons = page.getByRole('button')
    const called = page.getByRole('alert').filter({ hasText: 'tab-05 sent an SOS' })
    await called.waitFor()
    expect(await called.getByRole('button').count()).toBe(0)
    await page.getByText('tab-11').first().waitFor()
    await page.locator('.map-target').press('m')
    const offered = page.getByRole('group', { name: 'This place' }).getByRole('button')
    expect(await offered.allTextContents()).toEqual(['Nearest devices', 'Who was here?'])

    for (const [path, text, change] of [
      ['/devices/tab-01', '47.00000, 10.10000', /^(Settings|Edit|Disable|Erase…)$/],
      ['/devices/tab-06', 'An admin can enable it.', /Enable/],
      ['/geofences', 'Yard', /New geofence|From a file/],
      [`/geofences?geofence=${yardId}`, 'Who was here?', /Change|Delete/],
      ['/rules', 'Battery below 20 %', 'New rule'],
      ['/keys', 'Gateway', /New key|Which key/],
      ['/connect', 'Ask one for the secret', /Create a key|Send a test/],
      ['/operators', 'You have no permission', 'New operator'],
      ['/audit', 'Ask an admin of your account', 'Export'],
    ] as const) {
      await page.goto(suite.url + path)
      await page.getByText(text).first().waitFor()
      expect([path, await buttons.and(page.getByRole('button', { name: change })).count()]).toEqual(
        [path, 0],
      )
    }
    for (const name of ['Shared links', 'Operators', 'Accounts', 'Audit']) {
      const places = page.getByRole('navigation', { name: 'Console' })
      expect([name, await places.getByRole('link', { name }).count()]).toEqual([name, 0])
    }
    for (const [path, menu, item] of [
      ['/rules', 'Actions Low', 'Events'],
      ['/keys', 'Actions Gateway', 'Devices'],
    ] as const) {
      await page.goto(suite.url + path)
      await page.getByRole('button', { name: menu }).click()
      const items = page.locator('[popover]:popover-open').getByRole('button')
      await items.first().waitFor()
      expect((await items.allTextContents()).map((one) => one.trim())).toEqual([
        expect.stringContaining(item),
      ])
    }
  })
})
