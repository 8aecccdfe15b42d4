import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'

const OSM = 'https://tile.openstreetmap.org'
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describeConsole('layers and streets of a map', () => {
  const suite = consoleSuite({ origins: () => [OSM] })

  describe('the layers of a map', () => {
    /** Responds instead of OpenStreetMap, whose tiles these tests do not load. */
    async function standIn(page: Page): Promise<{ asked: number }> {
      const tiles = { asked: 0 }
      await page.route(`${OSM}/**`, async (route) => {
        tiles.asked += 1
        expect(new URL(route.request().headers()['referer'] ?? '').pathname).toBe('/')
        await route.fulfill({ contentType: 'image/png', body: PIXEL })
      })
      return tiles
    }

    const world = (page: Page) => page.getByRole('radio', { name: 'World (offline)', exact: true })
    const streets = (page: Page) =>
      page.getByRole('radio', { name: 'Streets (OpenStreetMap)', exact: true })

    test('streets are requested only once chosen, and stay chosen until another layer is', async () => {
      await suite.report({ deviceId: 'van-1', latitude: 48.2, longitude: 16.4 })
      const page = await suite.signedIn()
      const tiles = await standIn(page)
      await page.getByText('Natural Earth').waitFor()
      await page.getByRole('button', { name: 'Layers' }).click()
      expect(await world(page).isChecked()).toBe(true)
      await page.getByText('OpenStreetMap sees which area you look at').waitFor()
      expect(tiles.asked).toBe(0)
      await streets(page).check()
      await eventually(() => tiles.asked > 0)
      await page.getByText('© OpenStreetMap contributors').waitFor()

      await page.reload()
      const before = tiles.asked
      await eventually(() => tiles.asked > before)
      await page.getByRole('button', { name: 'Layers' }).click()
      await world(page).check()
      await page.getByText('© OpenStreetMap contributors').waitFor({ state: 'hidden' })
      await page.goto(`${suite.url}/devices/van-1`)
      await page.getByText('Natural Earth').waitFor()
      const after = tiles.asked
      await page.getByRole('button', { name: 'Layers' }).click()
      expect([await world(page).isChecked(), tiles.asked]).toEqual([true, after])
    })

    test('the page of a link offers streets only if the dialog allowed them, and then loads them', async () => {
      await suite.report({ deviceId: 'van-2', latitude: 48.2, longitude: 16.4 })
      const page = await suite.signedIn()
      await page.getByText('Natural Earth').waitFor()

      async function guestOf({ hasStreets }: { hasStreets: boolean }) {
        await page.goto(`${suite.url}/shares?device=van-2`)
        const dialog = page.getByRole('dialog', { name: 'New link' })
        const tick = dialog.getByRole('checkbox', { name: 'Streets on the map of the link' })
        await dialog.getByText('OpenStreetMap then sees which area its viewers look at').waitFor()
        expect(await tick.isChecked()).toBe(false)
        if (hasStreets) await tick.check()
        await dialog.getByRole('button', { name: 'Create link' }).click()
        const made = page.getByRole('dialog', { name: 'Link created' })
        const link = await made.getByRole('textbox', { name: 'Link' }).inputValue()
        const guest = await (await suite.open()).newPage()
        const tiles = await standIn(guest)
        await guest.goto(link)
        await guest.getByText(/Updated \d\d:\d\d/).waitFor()
        await guest.getByRole('button', { name: 'Layers' }).click()
        await world(guest).waitFor()
        return { guest, tiles }
      }

      const without = await guestOf({ hasStreets: false })
      expect(await streets(without.guest).count()).toBe(0)
      expect(await without.guest.getByText('This map shows no streets').count()).toBe(0)
      const { guest, tiles } = await guestOf({ hasStreets: true })
      await eventually(() => tiles.asked > 0)
      expect(await streets(guest).isChecked()).toBe(true)
      await guest.getByText('OpenStreetMap sees which area you look at').waitFor()
      await world(guest).check()
      await guest.getByText('© OpenStreetMap contributors').waitFor({ state: 'hidden' })
      expect(without.tiles.asked).toBe(0)
    })

    test('zoomed in, the base map says that it shows no streets, and links to the layers', async () => {
      await suite.report({ deviceId: 'van-1', latitude: 48.2, longitude: 16.4 })
      const page = await suite.signedIn()
      await page.getByText('Natural Earth').waitFor()
      const hint = page.getByText('This map shows no streets')
      expect(await hint.count()).toBe(0)
      await eventually(async () => {
        await page.getByRole('button', { name: 'Zoom in' }).click()
        return (await hint.count()) === 1
      })
      await page.getByRole('img', { name: /^Scale: \d+ k?m$/ }).waitFor()
      await page.getByRole('button', { name: 'Choose another' }).click()
      await streets(page).waitFor()
    })

    test('a base map that cannot be loaded is reported, does not look like sea, and appears after a retry', async () => {
      const page = await (await suite.open()).newPage()
      await page.route('**/map/world.pmtiles', (route) => route.abort())
      await page.goto(suite.url)
      await suite.fillSignIn(page)
      await page.getByText('The map could not be loaded').waitFor()
      const colour = () =>
        page.evaluate(`getComputedStyle(document.querySelector('.map-target')).backgroundColor`)
      expect(await colour()).toBe('rgb(244, 242, 236)')
      await page.unroute('**/map/world.pmtiles')
      await page.getByRole('button', { name: 'Retry' }).click()
      await page.getByText('The map could not be loaded').waitFor({ state: 'hidden' })
      expect(await colour()).toBe('rgb(205, 221, 230)')
    })

    test('a base map that a new service is still building is announced, and appears by itself', async () => {
      const page = await (await suite.open()).newPage()
      await page.route('**/map/world.pmtiles', (route) => route.fulfill({ status: 404 }))
      await page.goto(suite.url)
      await suite.fillSignIn(page)
      const note = page.getByText('The map is being built')
      await note.waitFor()
      expect(await page.getByText('could not be loaded').count()).toBe(0)
      await page.unroute('**/map/world.pmtiles')
      await note.waitFor({ state: 'hidden' })
      await page.getByText('Natural Earth').waitFor()
    })
  })

  describe('streets on the map', () => {
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
})
