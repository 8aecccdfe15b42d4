import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { temporaryDirectory } from '../../temporary-directory.ts'
import { MIDDLE } from '../town/plane.ts'
import { town } from '../town/town.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite } from './console-harness.ts'
import { countClicks } from './count-clicks.ts'
import { paintedText } from './painted.ts'

describeConsole('places and streets', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>
  beforeAll(async () => {
    directory = await temporaryDirectory()
    await writeFile(join(directory.path, 'town.pmtiles'), town())
  })
  const suite = consoleSuite({
    env: () => ({ MAP_PMTILES: `Town=${join(directory.path, 'town.pmtiles')}` }),
  })
  afterAll(() => directory.remove())
  beforeAll(() => suite.report(van('near', 0.002), van('far', 0.012), van('then', 0.006)))

  /** North of the town's middle, in degrees. */
  const van = (deviceId: string, north: number) => ({
    deviceId,
    latitude: MIDDLE.latitude + north,
    longitude: MIDDLE.longitude,
  })
  const search = (page: Page) => page.getByRole('searchbox', { name: 'Search devices and places' })
  const found = (page: Page) => page.getByRole('region', { name: 'Places' })
  const chosen = (page: Page) => page.getByRole('region', { name: 'Chosen place' })
  const menu = (page: Page) => page.getByRole('group', { name: 'This place' })
  const rows = (page: Page) =>
    page.getByRole('list', { name: 'Devices' }).getByRole('listitem').allTextContents()

  /** The map shows the town, so its streets are found. */
  async function mapOfTown(path = '/', options: Parameters<typeof suite.signedIn>[1] = {}) {
    const page = await suite.signedIn(path, options)
    await eventually(async () => (await paintedText(page, 'far')) !== null)
    await page
      .locator('.map-scale')
      .filter({ hasText: /^\d+ m$/ })
      .waitFor()
    return page
  }

  async function pressAt(page: Page, button: 'left' | 'right'): Promise<void> {
    const box = await page.locator('.map-target').boundingBox()
    await page.mouse.click(box!.x + box!.width * 0.3, box!.y + box!.height * 0.6, { button })
  }

  test('the van nearest to a street takes one click, typing and Enter', async () => {
    const page = await mapOfTown()
    const clicks = await countClicks(page)
    await search(page).click()
    await page.keyboard.type('lindenstr')
    await page.keyboard.press('Enter')
    await chosen(page).getByRole('heading', { name: 'Lindenstraße, Bruck an der Leitha' }).waitFor()
    await eventually(async () => (await rows(page)).length === 3)
    expect(await clicks()).toBe(1)
    const distances = (await rows(page)).map((row) => {
      const [, number, unit] = / ago ([\d.]+) (k?m) away/.exec(row) ?? []
      return Number(number) * (unit === 'km' ? 1_000 : 1)
    })
    expect(distances).toHaveLength(3)
    expect(distances).toEqual([...distances].sort((a, b) => a - b))
    expect(distances[0]).toBeLessThan(distances[2]! - 300)
    await page.getByRole('img', { name: 'Scale: 200 m' }).waitFor()
    expect(await search(page).inputValue()).toBe('')
    await page.reload()
    await chosen(page).getByRole('heading', { name: 'Lindenstraße' }).waitFor()
    await page.getByRole('button', { name: 'Remove the pin' }).click()
    await chosen(page).waitFor({ state: 'detached' })
    expect(await page.getByRole('combobox', { name: 'Sort by' }).inputValue()).toBe('name')
  })

  test('devices that match come before places, and arrow keys lead to places alone', async () => {
    const shape = { type: 'circle', ...MIDDLE, radius: 80 }
    await suite.made('/geofences', { name: 'Nearby yard', shape })
    const page = await mapOfTown()
    await search(page).fill('near')
    await found(page).getByRole('button', { name: 'Nearby yard Geofence' }).waitFor()
    expect(await rows(page)).toHaveLength(1)
    await search(page).press('Enter')
    await page.getByRole('region', { name: 'Selected device' }).getByText('near').waitFor()
    await search(page).fill('yard')
    await found(page).getByRole('button', { name: 'Nearby yard' }).waitFor()
    await search(page).press('ArrowDown')
    await page.keyboard.press('Enter')
    await chosen(page).getByRole('heading', { name: 'Nearby yard' }).waitFor()
    await page.locator('.map-target').focus()
    await page.keyboard.press('Escape')
    await chosen(page).waitFor({ state: 'detached' })
  })

  test('a right click on the map opens a menu, which lists the nearest devices or begins a geofence', async () => {
    const page = await mapOfTown('/?device=far')
    await pressAt(page, 'right')
    await menu(page).getByText('Bruck an der Leitha').waitFor()
    await pressAt(page, 'left')
    await menu(page).waitFor({ state: 'detached' })
    await pressAt(page, 'right')
    await menu(page).getByRole('button', { name: 'Nearest devices' }).click()
    await chosen(page).waitFor()
    expect((await rows(page))[0]).toMatch(/ m away/)
    await pressAt(page, 'right')
    await menu(page).getByText('Bruck an der Leitha').waitFor()
    await menu(page).getByRole('button', { name: 'New geofence here' }).click()
    expect(await page.getByLabel('Radius, m').inputValue()).toBe('60')
    expect(await page.getByLabel('Name').inputValue()).toContain('Bruck an der Leitha')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Geofence created.').waitFor()
  })

  test('the menu works by keyboard, and Esc returns to the map', async () => {
    const page = await mapOfTown('/?device=far')
    await page.locator('.map-target').focus()
    await page.keyboard.press('m')
    const focused = () => page.evaluate<string>('document.activeElement.textContent')
    expect(await focused()).toBe('Nearest devices')
    await page.keyboard.press('ArrowDown')
    expect(await focused()).toBe('Who was here?')
    await page.keyboard.press('Escape')
    await menu(page).waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.className')).toBe('map-target')
    expect(page.url()).toContain('device=far')
    await page.keyboard.press('m')
    await page.keyboard.press('Enter')
    await chosen(page).waitFor()
    expect((await rows(page))[0]).toMatch(/^far/)
  })

  test('a long press opens the menu on a touch screen', async () => {
    const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
    const page = await mapOfTown('/', phone)
    const box = await page.locator('.map-target').boundingBox()
    const touchPoints = [{ x: box!.x + 90, y: box!.y + 200 }]
    const touch = await page.context().newCDPSession(page)
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
    await menu(page).waitFor()
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    await menu(page).getByText('Bruck an der Leitha').waitFor()
    const { x = -1, width = 0 } = (await menu(page).boundingBox()) ?? {}
    expect([x >= 0, x + width <= 390]).toEqual([true, true])
    await menu(page).getByRole('button', { name: 'Nearest devices' }).tap()
    await chosen(page).waitFor()
  })

  test('a stop is named by its street, which a new geofence of 60 m takes over', async () => {
    const hour = 3_600_000
    const begin = Date.now() - 6 * hour
    const stay = (from: number, north: number) =>
      Array.from({ length: 13 }, (_, n) => ({
        ...van('parked', north),
        timestamp: new Date(begin + from + n * 300_000).toISOString(),
      }))
    await suite.report(...stay(0, -0.004), ...stay(2 * hour, 0.004))
    const page = await suite.signedIn(
      '/devices/parked?day=' + new Date(begin).toISOString().slice(0, 10),
    )
    const stop = page.getByRole('button', { name: /Stopped · .+, Bruck an der Leitha/ }).first()
    const [street = ''] = /[^·]+(?=, Bruck)/.exec((await stop.textContent()) ?? '') ?? []
    await stop.click()
    await page.getByRole('link', { name: 'Name this place' }).click()
    expect(await page.getByLabel('Name').inputValue()).toContain(street.trim())
    expect(await page.getByLabel('Radius, m').inputValue()).toBe('60')
  })
})
