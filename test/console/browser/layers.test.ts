import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'

const OSM = 'https://tile.openstreetmap.org'
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describeConsole('the layers of a map', () => {
  const suite = consoleSuite({ origins: () => [OSM] })

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
