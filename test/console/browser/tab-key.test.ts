import { beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'
import { smallButtons, tabThrough, watchCalls } from './tab-key.ts'

/** A Tuesday. */
const DAY = '2026-03-10'
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString()

/** Each page, with a text that it shows once it has its content. */
const PAGES = {
  '/': 'tab-11',
  '/?device=tab-03': 'History and settings',
  [`/devices/tab-00?day=${DAY}`]: 'At 10:04:00',
  '/devices/none': 'No device',
  '/reports': 'tab-11',
  '/notifications': 'Night desk',
  '/shares': 'Customer',
  '/connect': 'curl',
  '/keys': 'Gateway',
  '/operators': 'ana@example.org',
  '/accounts': 'yours',
  '/system': 'Dead letters',
  '/rejections': 'latitude',
  [`/?at=${DAY}T12:00:00Z`]: 'As of',
  [`/visits?latitude=47&longitude=10&radius=500&from=${DAY}T00:00:00Z&to=${DAY}T12:00:00Z`]:
    'tab-00',
  '/audit': 'Customer',
  '/no/such/page': 'No such page',
}

describeConsole('the Tab key', () => {
  const suite = consoleSuite()
  let pages: readonly (readonly [path: string, text: string])[]

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
        timestamp: `${DAY}T10:0${index}:00Z`,
      })),
    )
    const { key } = await suite.made('/keys', { name: 'Broken tracker' })
    await suite.submit(key, { deviceId: 'tab-00', latitude: 91, longitude: 10 })
    await eventually(async () => (await suite.call('GET', '/devices/tab-11')).status === 200)
    await suite.call('PATCH', '/devices/tab-03', { labels: ['north'] })
    const share = { deviceIds: ['tab-00', 'tab-03'], name: 'Customer', expiresAt: TOMORROW }
    const { token } = await suite.made('/shares', share)
    const target = { kind: 'slack', url: 'https://example.org/x' }
    const fields = { name: 'Night desk', source: 'facts', types: ['alarm.reported'], target }
    const { id } = await suite.made('/subscriptions', fields)
    pages = [
      ...Object.entries(PAGES),
      [`/notifications/${id}`, 'Nothing was sent'],
      [`/share#${token}`, 'Customer'],
    ]
  })

  test.each([
    ['a wide window', {}],
    ['a phone', { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }],
  ])('it reaches each control of every page and shows the focus: %s', async (_, options) => {
    const page = await suite.signedIn('/', { ...options, timezoneId: 'UTC' })
    const answersDrawn = watchCalls(page)
    const faults: string[] = []
    for (const [path, text] of pages) {
      await page.goto(suite.url + path)
      await page.getByText(text).first().waitFor({ state: 'attached' })
      await answersDrawn()
      await page.evaluate(
        `document.querySelectorAll('details').forEach((one) => (one.open = true))`,
      )
      faults.push(...(await smallButtons(page)).map((fault) => `${path}: small: ${fault}`))
      faults.push(...(await tabThrough(page)).map((fault) => `${path}: ${fault}`))
      const openers = page.locator('button[popovertarget]:not([popover] *)')
      const inMenu = page.locator(':popover-open').locator('a, button, input')
      for (const opener of await openers.filter({ visible: true }).all()) {
        const menu = `${path}, menu of ${String(await opener.ariaSnapshot())}`
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
    }
    expect(faults).toEqual([])
  })
})
