import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'

const OSM = 'https://tile.openstreetmap.org'
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describeConsole('streets on the map', () => {
  const suite = consoleSuite({ origins: () => [OSM] })

  const card = (page: Page) => page.getByRole('region', { name: 'Show streets?' })
  const failed = (page: Page) => page.getByText('Streets (OpenStreetMap) could not be loaded')
  const standIn = (page: Page) =>
    page.route(`${OSM}/**`, (route) => route.fulfill({ contentType: 'image/png', body: PIXEL }))

  /** The map after choosing a device in the list. */
  async function flown(page: Page, scale: string): Promise<void> {
    await deviceRow(page, 'van-1').getByRole('button').click()
    await page.getByRole('img', { name: `Scale: ${scale}`, exact: true }).waitFor()
  }

  test('are offered once, in a card above the lower edge; until then and without them the zoom stops at towns', async () => {
    await suite.report({ deviceId: 'van-1', latitude: 48.2, longitude: 16.4 })
    const page = await suite.signedIn('/', { asksForStreets: true })
    let asked = 0
    page.on('request', (request) => (asked += Number(request.url().startsWith(OSM))))
    await card(page).waitFor()
    await card(page)
      .getByText('They come from openstreetmap.org, which then sees which area you look at.')
      .waitFor()
    const [box, map] = [await card(page).boundingBox(), await page.locator('.map').boundingBox()]
    const bottom = (of: typeof box) => (of?.y ?? 0) + (of?.height ?? 0)
    // Below it is the bar of the moment.
    expect([box?.width, bottom(map) - bottom(box)]).toEqual([420, 76])
    const bar = await page.locator('.moment-bar').boundingBox()
    expect(bottom(box)).toBeLessThan(bar?.y ?? 0)
    await flown(page, '5 km')
    await card(page).getByRole('button', { name: 'Stay offline' }).click()
    await card(page).waitFor({ state: 'hidden' })
    await page.reload()
    await deviceRow(page, 'van-1').waitFor()
    await page.getByRole('button', { name: 'Layers' }).waitFor()
    expect([await card(page).count(), asked]).toEqual([0, 0])
  })

  test('the question takes less than a third of a phone’s map', async () => {
    const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
    const page = await suite.signedIn('/', { asksForStreets: true, ...phone })
    await card(page).waitFor()
    const [box, map] = [await card(page).boundingBox(), await page.locator('.map').boundingBox()]
    expect(box?.height ?? 0).toBeLessThan((map?.height ?? 0) / 3)
    const button = await card(page).getByRole('button', { name: 'Stay offline' }).boundingBox()
    expect(button?.height).toBeGreaterThanOrEqual(44)
  })

  test('load once they are accepted, and then a chosen device is shown in its street', async () => {
    const page = await suite.signedIn('/', { asksForStreets: true })
    await standIn(page)
    await card(page).getByRole('button', { name: 'Show streets' }).click()
    await page.getByText('© OpenStreetMap contributors').waitFor()
    await flown(page, '200 m')
    await page.reload()
    await page.getByText('© OpenStreetMap contributors').waitFor()
    expect(await card(page).count()).toBe(0)
  })

  test('that fail to load are reported above the built-in map, and appear after Retry', async () => {
    const page = await suite.signedIn('/', { asksForStreets: true })
    let isUp = false
    await page.route(`${OSM}/**`, (route) =>
      isUp ? route.fulfill({ contentType: 'image/png', body: PIXEL }) : route.abort(),
    )
    await deviceRow(page, 'van-1').waitFor()
    await card(page).getByRole('button', { name: 'Show streets' }).click()
    await failed(page).waitFor()
    // The built-in map names towns.
    const towns = JSON.stringify(['Schwechat', 'Klosterneuburg', 'Perchtoldsdorf', 'Bratislava'])
    await eventually(() => page.evaluate<boolean>(`${towns}.some((name) => painted.has(name))`))
    // Only Retry brings the server back: another tile of a moving map would hide the button.
    await page.exposeFunction('bringBack', () => (isUp = true))
    await page.evaluate(
      `document.addEventListener('click', ({ target }) => /Retry/.test(target.textContent) && bringBack(), true)`,
    )
    // Each failed tile redraws the message: the button never stays still.
    await page.getByRole('button', { name: 'Retry' }).dispatchEvent('click')
    await failed(page).waitFor({ state: 'hidden' })
  })

  test('whose server does not respond are reported as missing', async () => {
    const page = await suite.signedIn('/', { asksForStreets: true })
    await page.route(`${OSM}/**`, () => undefined)
    await card(page).getByRole('button', { name: 'Show streets' }).click()
    await failed(page).waitFor()
  })
})
