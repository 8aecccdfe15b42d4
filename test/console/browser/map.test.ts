import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow, setHidden } from './console-harness.ts'

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '../../%2e',
  '\u202Eright to left',
  '😀'.repeat(64),
]

describeConsole('the map', () => {
  const suite = consoleSuite()

  test('the map shows a report without a reload, and the state of the connection', async () => {
    const page = await suite.signedIn()
    await page.getByRole('status', { name: 'Connection' }).getByText('live').waitFor()
    await page.getByText('No device has reported yet').waitFor()
    await suite.report({ deviceId: 'van-1', latitude: 52.5, longitude: 13.4, speed: 10 })
    const row = deviceRow(page, 'van-1')
    await row.waitFor({ timeout: 3_000 })
    expect(await row.textContent()).toMatch(/^van-1 Online (now|\d s ago) Moving 36 km\/h$/)
  })

  test('a device already stationary when the page opens shows for how long', async () => {
    const parked = { deviceId: 'parked', latitude: 52.5, longitude: 13.4, speed: 0 }
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
    await suite.report(
      { ...parked, latitude: 52.6, speed: 20, timestamp: minutesAgo(14) },
      ...[12.5, 8, 4, 0].map((ago) => ({ ...parked, timestamp: minutesAgo(ago) })),
    )
    const page = await suite.signedIn('/?q=parked')
    await deviceRow(page, 'parked').getByText('Stopped 12 min').waitFor()
  })

  test('the map shows ids and names of any characters as text', async () => {
    await suite.report(
      ...HOSTILE.map((deviceId, index) => ({ deviceId, latitude: 10 * index, longitude: 0 })),
    )
    const page = await suite.signedIn()
    for (const id of HOSTILE) await deviceRow(page, id).waitFor()
    const path = `/devices/${encodeURIComponent(HOSTILE[0] ?? '')}`
    const named = await suite.call('PATCH', path, { name: '<img src=y onerror=alert(2)>' })
    expect(named.status).toBe(200)
    await page.reload()
    const row = deviceRow(page, '<img src=y onerror=alert(2)>')
    await row.getByRole('button').click()
    const card = page.getByRole('region', { name: 'Selected device' })
    expect(await card.textContent()).toContain(HOSTILE[0])
    expect(await page.locator('img').count()).toBe(0)
  })

  test('the map keeps filter, search and selection in the address', async () => {
    await suite.report({ deviceId: 'van-2', latitude: 48, longitude: 16 })
    const page = await suite.signedIn()
    await page.getByRole('searchbox').fill('VAN-2')
    await deviceRow(page, 'van-1').waitFor({ state: 'hidden' })
    await deviceRow(page, 'van-2').getByRole('button').click()
    expect(new URL(page.url()).search).toBe('?q=VAN-2&device=van-2')
    await page.reload()
    await page.getByRole('region', { name: 'Selected device' }).getByText('van-2').first().waitFor()
    await page.getByRole('button', { name: 'offline' }).click()
    await page.getByRole('heading', { name: 'No device matches' }).waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await deviceRow(page, 'van-1').waitFor()
  })

  test('the map says so when another operator erases a device', async () => {
    await suite.report({ deviceId: 'to-erase', latitude: 1, longitude: 1 })
    const page = await suite.signedIn('/?device=to-erase')
    await deviceRow(page, 'to-erase').waitFor()
    await suite.call('DELETE', '/devices/to-erase')
    await page.getByText('it has been erased').waitFor()
    await deviceRow(page, 'to-erase').waitFor({ state: 'hidden' })
  })

  test('the map can be used by the keyboard alone', async () => {
    const page = await suite.signedIn()
    await deviceRow(page, 'van-1').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('van')
    await deviceRow(page, 'right to left').waitFor({ state: 'hidden' })
    await deviceRow(page, 'van-1').getByRole('button').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/device=van-2/)
    await page.keyboard.press('Escape')
    await page.waitForURL((url) => !url.search.includes('device'))
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor({ state: 'hidden' })
  })

  test('the map misses nothing while the service is away', async () => {
    await suite.report(
      { deviceId: 'moved-while-lost', latitude: 3, longitude: 3 },
      { deviceId: 'erased-while-lost', latitude: 3, longitude: 3 },
    )
    const page = await suite.signedIn()
    const connection = page.getByRole('status', { name: 'Connection' })
    await connection.getByText('live').waitFor()
    await deviceRow(page, 'erased-while-lost').waitFor()
    // The page stays away longer than the service, so that all this happens unseen.
    await page.route('**/api/v1/stream**', (route) => route.abort())
    await suite.restart(async () => {
      await connection.getByText(/disconnected since \d\d:\d\d/).waitFor()
    })
    await suite.report(
      { deviceId: 'new-while-lost', latitude: 3, longitude: 3 },
      { deviceId: 'moved-while-lost', latitude: 4, longitude: 3, speed: 20 },
    )
    expect((await suite.call('DELETE', '/devices/erased-while-lost')).status).toBe(202)
    expect(await deviceRow(page, 'new-while-lost').count()).toBe(0)
    await page.unroute('**/api/v1/stream**')
    await connection.getByText('live').waitFor({ timeout: 40_000 })
    await deviceRow(page, 'new-while-lost').waitFor()
    await deviceRow(page, 'moved-while-lost').getByText('72 km/h').waitFor()
    expect(await deviceRow(page, 'erased-while-lost').count()).toBe(0)
  })

  test('the map shows devices before the stream opens, and then what has happened since', async () => {
    await suite.report(
      { deviceId: 'moves-before-stream', latitude: 3, longitude: 3 },
      { deviceId: 'erased-before-stream', latitude: 3, longitude: 3 },
    )
    const page = await suite.signedIn('/keys')
    let open: () => void = () => undefined
    const opened = new Promise<void>((resolve) => (open = resolve))
    await page.route('**/api/v1/stream**', async (route) => {
      await opened
      await route.continue()
    })
    await page.getByRole('link', { name: 'Map' }).click()
    await deviceRow(page, 'moves-before-stream').waitFor()
    await deviceRow(page, 'erased-before-stream').waitFor()
    const connection = page.getByRole('status', { name: 'Connection' })
    expect(await connection.textContent()).toBe('connecting')
    await suite.report({ deviceId: 'moves-before-stream', latitude: 4, longitude: 3, speed: 20 })
    expect((await suite.call('DELETE', '/devices/erased-before-stream')).status).toBe(202)
    open()
    await connection.getByText('live').waitFor()
    await deviceRow(page, 'moves-before-stream').getByText('72 km/h').waitFor()
    await deviceRow(page, 'erased-before-stream').waitFor({ state: 'hidden' })
  })

  test('of eight tabs only the visible one has a stream, and each is current once visible', async () => {
    const first = await suite.signedIn()
    const connection = (page: Page) => page.getByRole('status', { name: 'Connection' })
    await connection(first).getByText('live').waitFor()
    const pages = [first]
    for (let more = 0; more < 7; more += 1) {
      await setHidden(pages.at(-1)!, true)
      const page = await first.context().newPage()
      await page.goto(suite.url)
      await connection(page).getByText('live').waitFor()
      pages.push(page)
    }
    let streams = 0
    first.context().on('request', (request) => {
      if (request.url().includes('/api/v1/stream')) streams += 1
    })
    await suite.report({ deviceId: 'in-all-tabs', latitude: 4, longitude: 4 })
    await deviceRow(pages.at(-1)!, 'in-all-tabs').waitFor()
    expect(streams).toBe(0)
    await setHidden(pages.at(-1)!, true)
    await setHidden(first, false)
    await deviceRow(first, 'in-all-tabs').waitFor()
    expect(streams).toBe(1)
  })

  test('the map works on a phone: links in sight, no sideways scrolling, the list in three heights', async () => {
    const page = await suite.signedIn('/', {
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
    })
    await deviceRow(page, 'van-1').waitFor()
    expect(await page.getByRole('link', { name: 'Connect a device' }).isVisible()).toBe(true)
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    expect(wide).toBe(360)
    const heights: unknown[] = []
    for (const name of ['Expand', 'Shrink', 'Expand']) {
      await page.getByRole('button', { name: `${name} the list` }).click()
      heights.push(await page.locator('.list-panel').getAttribute('data-height'))
    }
    expect(heights).toEqual(['full', 'low', 'half'])
  })
})
