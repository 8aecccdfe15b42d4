import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { temporaryDirectory } from '../../temporary-directory.ts'
import { MIDDLE, REACH } from '../town/plane.ts'
import { town } from '../town/town.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'
import { startMapServer } from './map-server.ts'
import { paintedText } from './painted.ts'

const CREDIT = 'A town that does not exist'

describeConsole('your own maps', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>
  let server: Awaited<ReturnType<typeof startMapServer>>
  beforeAll(async () => {
    directory = await temporaryDirectory()
    await writeFile(join(directory.path, 'town.pmtiles'), town())
    server = await startMapServer(town())
  })
  afterAll(async () => {
    await server.close()
    await directory.remove()
  })
  const suite = consoleSuite({
    env: () => ({
      MAP_PMTILES: `Town=${join(directory.path, 'town.pmtiles')} Elsewhere=${server.url}/town.pmtiles`,
    }),
    origins: () => [server.url],
  })

  const layer = (page: Page, name: string) => page.getByRole('radio', { name, exact: true })

  test('a file of streets is drawn with names by default, and shows its credit', async () => {
    await suite.report({ deviceId: 'van-1', ...MIDDLE })
    await suite.report({ deviceId: 'van-2', ...MIDDLE, latitude: MIDDLE.latitude + 0.02 })
    const page = await suite.signedIn()
    await page.getByText(CREDIT).waitFor()
    await eventually(async () => (await paintedText(page, 'Musterstadt')) !== null)
    await page.getByRole('button', { name: 'Layers' }).click()
    expect(await layer(page, 'Town').isChecked()).toBe(true)
    await layer(page, 'World (offline)').check()
    await page.getByText(CREDIT).waitFor({ state: 'hidden' })
    expect(server.asked).toEqual([])
  })

  test('a file on another server is read in parts, once chosen', async () => {
    const page = await suite.signedIn()
    await page.getByRole('button', { name: 'Layers' }).click()
    await layer(page, 'Elsewhere').check()
    await page.getByText(CREDIT).waitFor()
    await eventually(async () => (await paintedText(page, 'Musterstadt')) !== null)
    expect(new Set(server.asked.map(({ path }) => path))).toEqual(new Set(['/town.pmtiles']))
  })

  test('viewers of a shared link have the layers too', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const share = {
      name: 'Today',
      deviceIds: ['van-1'],
      trailMinutes: 0,
      expiresAt,
      showsStreets: true,
    }
    const { token } = await suite.made('/shares', share)
    await suite.report({ deviceId: 'van-1', ...MIDDLE })
    const page = await (await suite.open()).newPage()
    await page.goto(`${suite.url}/share#${token}`)
    await page.getByText(CREDIT).waitFor()
    await page.getByRole('button', { name: 'Layers' }).click()
    expect(await layer(page, 'Town').isChecked()).toBe(true)
    expect(await layer(page, 'Streets (OpenStreetMap)').isChecked()).toBe(false)
  })

  test('outside a file’s area, the map says so above the built-in map; at its edge both are shown', async () => {
    await suite.report({ deviceId: 'far', latitude: 40.3, longitude: -3.72 })
    const page = await suite.signedIn('/?device=van-1')
    const outside = page.getByText('Town does not reach here; this is the built-in map.')
    await page.getByText(CREDIT).waitFor()
    await deviceRow(page, 'far').getByRole('button').click()
    await outside.waitFor()
    const towns = JSON.stringify(['Madrid', 'Getafe', 'Leganés', 'Alcorcón', 'Móstoles'])
    await eventually(() => page.evaluate<boolean>(`${towns}.some((name) => painted.has(name))`))
    await page.getByRole('button', { name: 'Choose another' }).waitFor()

    const east = MIDDLE.longitude + REACH / (111_320 * Math.cos((MIDDLE.latitude * Math.PI) / 180))
    await suite.report({ deviceId: 'at-the-edge', ...MIDDLE, longitude: east })
    await deviceRow(page, 'at-the-edge').getByRole('button').click()
    await outside.waitFor({ state: 'hidden' })
    // A level at a time: further out the town's name gives way to others.
    await eventually(async () => {
      await page.getByRole('button', { name: 'Zoom out' }).click()
      const isShown = async () => (await paintedText(page, 'Musterstadt')) !== null
      return eventually(isShown, { withinMs: 3_000 })
    })
    // The built-in map is drawn beneath, because the file covers only half of the view.
    await page.getByText('Natural Earth').waitFor()
    expect(await page.getByText('could not be loaded').count()).toBe(0)
  })
})

describeConsole('your own tiles', () => {
  let server: Awaited<ReturnType<typeof startMapServer>>
  beforeAll(async () => {
    server = await startMapServer(town())
  })
  afterAll(() => server.close())
  const suite = consoleSuite({
    env: () => ({
      MAP_TILE_URL: `Satellite=${server.url}/images/{z}/{y}/{x}.jpg?key=k`,
      MAP_ATTRIBUTION: '© Somebody',
    }),
    origins: () => [server.url],
  })

  test('tiles of your own server are loaded, and the server learns the site but never the page', async () => {
    await suite.report({ deviceId: 'van-1', ...MIDDLE })
    const page = await suite.signedIn('/devices/van-1')
    await page.getByText('© Somebody').waitFor()
    await eventually(() => server.asked.length > 0)
    for (const { path, referer } of server.asked) {
      expect(path).toMatch(/^\/images\/\d+\/\d+\/\d+\.jpg\?key=k$/)
      expect(referer).toBe(`${suite.url}/`)
    }
    const answer = await fetch(suite.url, { headers: { Accept: 'text/html' } })
    expect(answer.headers.get('Content-Security-Policy')).toContain(
      `img-src 'self' data: blob: ${server.url} https://tile.openstreetmap.org;`,
    )
  })
})
