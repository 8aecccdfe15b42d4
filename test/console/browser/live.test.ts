import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow, setHidden } from './console-harness.ts'

/** A stream that sends the test's events. */
const STREAM_BY_HAND = `const ask = window.fetch
  window.fetch = (url, options) => {
    if (!String(url).includes('/api/v1/stream')) return ask(url, options)
    const body = new ReadableStream({
      start(controller) {
        const text = new TextEncoder()
        window.send = (event) =>
          controller.enqueue(text.encode('event: ' + event + '\\ndata: {}\\n\\n'))
      },
    })
    return Promise.resolve(new Response(body))
  }`

describeConsole('live updates', () => {
  const suite = consoleSuite({ hasWindows: true })
  const connection = (page: Page) => page.getByRole('status', { name: 'Connection' })
  const isStream = (url: string) => url.includes('/api/v1/stream')

  test('the map is live again after Back, and shows what was reported meanwhile', async () => {
    await suite.report({ deviceId: 'before', latitude: 1, longitude: 1 })
    const page = await suite.signedIn()
    await deviceRow(page, 'before').waitFor()
    await connection(page).getByText('live').waitFor()
    await page.evaluate('window.kept = true')
    await page.goto('about:blank')
    await suite.report({ deviceId: 'meanwhile', latitude: 2, longitude: 2 })
    await page.goBack({ waitUntil: 'commit' })
    expect(await page.evaluate('window.kept')).toBe(true)
    await deviceRow(page, 'meanwhile').waitFor({ timeout: 10_000 })
    await suite.report({ deviceId: 'afterwards', latitude: 3, longitude: 3 })
    await deviceRow(page, 'afterwards').waitFor({ timeout: 10_000 })
    await connection(page).getByText('live').waitFor()
  })

  test('a stream that ends after each opening is resumed, and the page does not list again', async () => {
    const page = await suite.signedIn()
    await connection(page).getByText('live').waitFor()
    const marks: (string | null)[] = []
    let lists = 0
    page.on('request', (request) => (lists += request.url().includes('/api/v1/devices?') ? 1 : 0))
    await page.route('**/api/v1/stream**', async (route) => {
      marks.push(await route.request().headerValue('Last-Event-ID'))
      const body = `event: heartbeat\nid: mark-${marks.length}\ndata: {}\n\n`
      await route.fulfill({ contentType: 'text/event-stream', body })
    })
    await setHidden(page, true)
    await setHidden(page, false)
    await eventually(() => marks.length >= 4)
    expect(lists).toBe(0)
    expect(marks[0]).toMatch(/.+/)
    expect(marks.slice(1, 4)).toEqual(['mark-1', 'mark-2', 'mark-3'])
  })

  test('a gap makes a tab list again, and many gaps cause one list', async () => {
    const page = await suite.signedIn()
    await page.clock.install()
    await page.addInitScript(STREAM_BY_HAND)
    await page.reload()
    const send = (event: string) => page.evaluate(`window.send(${JSON.stringify(event)})`)
    await eventually(() => page.evaluate<boolean>(`window.send !== undefined`))
    await connection(page).getByText('live').waitFor()
    let lists = 0
    page.on('request', (request) => (lists += request.url().includes('/api/v1/devices?') ? 1 : 0))
    for (let times = 0; times < 10; times += 1) {
      await send('gap')
      await page.clock.runFor(100)
    }
    await connection(page).getByText('catching up').waitFor()
    expect(lists).toBe(0)
    // Not runFor: it would draw 30 s of frames of the map, one by one.
    await page.clock.fastForward(30_000)
    await connection(page).getByText('live').waitFor()
    expect(lists).toBe(1)
  })

  test('only visible tabs have a stream, and a hidden tab misses nothing', async () => {
    const page = await suite.signedIn()
    await connection(page).getByText('live').waitFor()
    const ended = page.waitForEvent('requestfailed', (request) => isStream(request.url()))
    await setHidden(page, true)
    await ended
    await suite.report({ deviceId: 'while-hidden', latitude: 2, longitude: 2 })
    const resumed = page.waitForRequest((request) => isStream(request.url()))
    await setHidden(page, false)
    expect(await (await resumed).headerValue('Last-Event-ID')).toMatch(/.+/)
    await deviceRow(page, 'while-hidden').waitFor()
  })

  test('two visible windows are live, each with its own stream', async () => {
    const first = await suite.signedIn()
    const second = await first.context().newPage()
    await second.goto(suite.url)
    for (const page of [first, second]) await connection(page).getByText('live').waitFor()
    await suite.report({ deviceId: 'in-both', latitude: 2, longitude: 2 })
    for (const page of [first, second]) await deviceRow(page, 'in-both').waitFor()
  })

  test('while the first list loads, the page shows no counts', async () => {
    await suite.report({ deviceId: 'counted', latitude: 1, longitude: 1 })
    const page = await suite.signedIn('/keys')
    let letCome = () => {}
    const isHeld = new Promise<void>((resolve) => (letCome = resolve))
    await page.route(/\/api\/v1\/(devices\?|stream)/, async (route) => {
      await isHeld
      await route.continue()
    })
    await page.goto(suite.url)
    const counts = page.getByRole('group', { name: 'Show only' })
    await counts.getByText('Online').waitFor()
    expect(await counts.textContent()).not.toMatch(/\d/)
    letCome()
    await counts.getByText(/[1-9]/).first().waitFor()
  })

  test('a page opened without the service or the network loads once they are back', async () => {
    await suite.report({ deviceId: 'back', latitude: 1, longitude: 1 })
    const page = await suite.signedIn('/keys')
    await page.route('**/api/v1/session', (route) => route.abort())
    await page.goto(suite.url)
    await page.getByRole('heading', { name: 'Service unreachable' }).waitFor()
    await page.unroute('**/api/v1/session')
    await deviceRow(page, 'back').waitFor()

    await page.context().setOffline(true)
    // Not in the browser's cached page.
    await page.getByRole('link', { name: 'Shared links' }).click()
    await page.getByRole('heading', { name: 'This page cannot be loaded' }).waitFor()
    await page.context().setOffline(false)
    await page.getByRole('heading', { name: 'Shared links', level: 1 }).waitFor()
  })

  test('a page first opened while the service restarts loads once it is back', async () => {
    const page = await suite.signedIn('/keys')
    let isUp = false
    // Like an unavailable service: the browser fires no `online` event.
    await page.route('**/*', (route) => (isUp ? route.fallback() : route.abort()))
    await page.getByRole('link', { name: 'Shared links' }).click()
    await page.getByRole('heading', { name: 'This page cannot be loaded' }).waitFor()
    isUp = true
    await page.getByRole('heading', { name: 'Shared links', level: 1 }).waitFor()
  })

  test('the card retries a request that a busy service has not responded', async () => {
    const shape = { type: 'circle', latitude: 33, longitude: 3, radius: 200 }
    await suite.made('/geofences', { name: 'Depot', shape })
    await suite.report({ deviceId: 'unanswered', latitude: 33, longitude: 3 })
    await eventually(async () => {
      const { body } = await suite.call('GET', '/devices/unanswered')
      return (body.data as { inside: object[] }).inside.length > 0
    })
    const page = await suite.signedIn('/keys')
    let refusals = 0
    await page.route('**/api/v1/devices/unanswered', async (route) => {
      if ((refusals += 1) > 1) return route.continue()
      await route.fulfill({ status: 503, headers: { 'Retry-After': '1' } })
    })
    await page.goto(`${suite.url}/?device=unanswered`)
    const card = page.getByRole('region', { name: 'Selected device' })
    await card.getByRole('link', { name: 'Depot' }).waitFor()
    expect(refusals).toBe(2)
  })

  test('every preloaded file is used: the browser gives no warning', async () => {
    const page = await suite.signedIn('/keys')
    const warnings: string[] = []
    page.on('console', (message) => {
      if (/preload/i.test(message.text())) warnings.push(message.text())
    })
    await page.goto(suite.url)
    await page.getByText('Natural Earth').waitFor()
    await page.waitForLoadState('load')
    expect(warnings).toEqual([])
  })

  test('a list that cannot be loaded says why, and loads on a retry', async () => {
    await suite.report({ deviceId: 'listed', latitude: 1, longitude: 1 })
    const page = await suite.signedIn('/keys')
    const answer = { status: 503, json: { error: 'SERVICE_UNAVAILABLE', message: 'no store' } }
    await page.route('**/api/v1/devices?**', (route) => route.fulfill(answer))
    await page.route('**/api/v1/stream**', (route) => route.fulfill({ status: 503 }))
    await page.getByRole('link', { name: 'Map' }).click()
    await page.getByRole('alert').getByText('No store').waitFor()
    await page.unroute('**/api/v1/devices?**')
    const list = page.getByRole('region', { name: 'Devices and filters' })
    await list.getByRole('button', { name: 'Retry' }).click()
    await deviceRow(page, 'listed').waitFor()
    // Rows come before the last response of the list.
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })
})
