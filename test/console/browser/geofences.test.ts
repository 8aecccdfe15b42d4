import { readFile } from 'node:fs/promises'
import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { faultsInLooks, ON_PHONE } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, follow } from './console-harness.ts'

type Shape = {
  readonly type: string
  readonly latitude: number
  readonly longitude: number
  readonly radius: number
  readonly coordinates: readonly (readonly (readonly [number, number])[])[]
}
type Fence = { readonly id: string; readonly name: string; readonly shape: Shape }

const PHONE = { width: 390, height: 800 }
const CIRCLE = { type: 'circle', latitude: 48.2, longitude: 16.4, radius: 200 }
const SQUARE = {
  type: 'Polygon',
  coordinates: [
    [
      [16.3, 48.1],
      [16.5, 48.1],
      [16.5, 48.3],
      [16.3, 48.3],
      [16.3, 48.1],
    ],
  ],
}

describeConsole('the geofences page', () => {
  const suite = consoleSuite()

  const items = (page: Page) => page.getByRole('list', { name: 'Geofences' }).getByRole('listitem')
  const card = (page: Page) => page.getByRole('region', { name: 'Selected geofence' })
  const form = (page: Page, name = 'New geofence') => page.getByRole('region', { name })
  const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click()

  async function stored(name: string): Promise<Fence> {
    const { body } = await suite.call('GET', '/geofences?limit=1000')
    const found = (body.data as { items: Fence[] }).items.find((one) => one.name === name)
    if (found === undefined) throw new Error(`no geofence ${name}`)
    return found
  }

  /** A point of the map, by parts of its width and height. */
  async function spot(page: Page, x: number, y: number): Promise<{ x: number; y: number }> {
    const box = (await page.getByRole('application').boundingBox())!
    return { x: box.x + box.width * x, y: box.y + box.height * y }
  }

  async function click(page: Page, x: number, y: number): Promise<void> {
    const at = await spot(page, x, y)
    await page.mouse.click(at.x, at.y)
    // OpenLayers takes two clicks in quick succession for a double click.
    await suite.pause(300)
  }

  async function drag(page: Page, from: readonly [number, number], to: readonly [number, number]) {
    const [begin, end] = [await spot(page, ...from), await spot(page, ...to)]
    await page.mouse.move(begin.x, begin.y)
    await page.mouse.down()
    await page.mouse.move((begin.x + end.x) / 2, (begin.y + end.y) / 2)
    await page.mouse.move(end.x, end.y)
    await page.mouse.up()
  }

  /** The form for a new one, with the map over Vienna. */
  async function newGeofence(page: Page, button: string): Promise<void> {
    await page.getByRole('button', { name: 'New geofence' }).click()
    await form(page).getByRole('button', { name: button }).click()
  }

  test('a circle is drawn from its centre outwards, moved, resized and undone', async () => {
    await suite.made('/geofences', { name: 'View', shape: SQUARE })
    const page = await suite.signedIn('/geofences')
    await items(page).filter({ hasText: 'View' }).waitFor()
    await newGeofence(page, 'Draw a circle')
    await drag(page, [0.5, 0.5], [0.6, 0.5])
    const radius = form(page).getByLabel('Radius, m')
    const centre = form(page).getByLabel('Centre')
    await eventually(async () => Number(await radius.inputValue()) > 500)
    const [first, place] = [Number(await radius.inputValue()), await centre.inputValue()]
    await drag(page, [0.6, 0.5], [0.7, 0.5])
    await eventually(async () => Math.abs(Number(await radius.inputValue()) / first - 2) < 0.05)
    await drag(page, [0.5, 0.5], [0.5, 0.4])
    await eventually(async () => (await centre.inputValue()) !== place)
    await form(page).getByRole('button', { name: 'Undo' }).click()
    await eventually(async () => (await centre.inputValue()) === place)
    await form(page).getByRole('button', { name: 'Undo' }).click()
    await eventually(async () => Number(await radius.inputValue()) === first)
    await form(page).getByLabel('Name').fill('Drawn circle')
    await save(page)
    await card(page).getByRole('heading', { name: 'Drawn circle' }).waitFor()
    const { shape } = await stored('Drawn circle')
    expect([shape.type, shape.radius]).toEqual(['circle', first])
  })

  test('a polygon is drawn corner by corner, and reshaped later', async () => {
    await suite.made('/geofences', { name: 'View', shape: SQUARE })
    const page = await suite.signedIn('/geofences')
    await items(page).filter({ hasText: 'View' }).first().waitFor()
    await newGeofence(page, 'Draw a polygon')
    for (const [x, y] of [
      [0.4, 0.4],
      [0.6, 0.4],
      [0.6, 0.6],
      [0.4, 0.4],
    ] as const) {
      await click(page, x, y)
    }
    await form(page).getByText('Drag corners to reshape it').waitFor()
    await form(page).getByLabel('Name').fill('Drawn polygon')
    await save(page)
    await card(page).getByText('3 corners').waitFor()
    const before = await stored('Drawn polygon')
    await card(page).getByRole('button', { name: 'Change' }).click()
    const corners = form(page, 'Change geofence').getByLabel('Corners')
    const text = await corners.inputValue()
    const lines = text.split('\n')
    expect(lines).toHaveLength(3)
    await corners.fill([...lines, '48.2, 16.35'].join('\n'))
    await save(page)
    await card(page).getByText('4 corners').waitFor()
    const after = await stored('Drawn polygon')
    expect(after.shape.coordinates[0]).toEqual([
      ...(before.shape.coordinates[0] ?? []).slice(0, 3),
      [16.35, 48.2],
      before.shape.coordinates[0]?.[0],
    ])
  })

  test('without a mouse, a circle and a polygon are entered as numbers', async () => {
    const page = await suite.signedIn('/geofences')
    await page.getByRole('button', { name: 'New geofence' }).press('Enter')
    await form(page).getByRole('button', { name: 'Draw a circle' }).press('Enter')
    await form(page).getByLabel('Centre').fill('48.2, 16.4')
    await form(page).getByLabel('Radius, m').fill('350')
    // The map shows the entered shape.
    await page.getByText(/^(100|200) m$/).waitFor()
    await form(page).getByLabel('Name').fill('Typed circle')
    await form(page).getByLabel('Name').press('Enter')
    await card(page).getByText('Circle of 350 m').waitFor()
    expect((await stored('Typed circle')).shape).toEqual({ ...CIRCLE, radius: 350 })
    await page.getByRole('button', { name: 'New geofence' }).press('Enter')
    await form(page).getByRole('button', { name: 'Draw a polygon' }).press('Enter')
    await form(page).getByLabel('Name').fill('Typed polygon')
    await save(page)
    await form(page).getByText('Draw at least three corners, or enter them.').waitFor()
    await form(page).getByLabel('Corners').fill('48.1, 16.3\n48.1, 16.5\nnorth')
    await save(page)
    await form(page).getByText('Enter each point as latitude, longitude').waitFor()
    await form(page).getByLabel('Corners').fill('48.1, 16.3\n48.1, 16.5\n48.3, 16.5')
    await save(page)
    await card(page).getByText('3 corners').waitFor()
  })

  test('a radius being typed stays when labels arrive', async () => {
    await suite.report({ deviceId: 'van-8', latitude: 48, longitude: 16 })
    await eventually(async () => (await suite.call('GET', '/devices/van-8')).status === 200)
    await suite.call('PATCH', '/devices/van-8', { labels: ['late'] })
    const page = await suite.signedIn('/geofences')
    let answer = () => {}
    const asked = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/api/v1/labels', async (route) => {
      await asked
      await route.continue()
    })
    await newGeofence(page, 'Draw a circle')
    await form(page).getByLabel('Some devices').check()
    const radius = form(page).getByLabel('Radius, m')
    await radius.fill('350')
    answer()
    await form(page).getByLabel('late').waitFor()
    expect(await radius.inputValue()).toBe('350')
  })

  test('devices and labels, the time to confirm and whether it is enabled are settings', async () => {
    await suite.report({ deviceId: 'van-7', latitude: 48, longitude: 16 })
    await eventually(async () => (await suite.call('GET', '/devices/van-7')).status === 200)
    await suite.call('PATCH', '/devices/van-7', { name: 'Van 7', labels: ['freezer'] })
    await suite.made('/geofences', { name: 'Settings', shape: CIRCLE })
    const page = await suite.signedIn(`/geofences?geofence=${(await stored('Settings')).id}`)
    await card(page).getByText('All devices').waitFor()
    await card(page).getByRole('button', { name: 'Change' }).click()
    const changed = form(page, 'Change geofence')
    await changed.getByLabel('Some devices').check()
    await save(page)
    await changed.getByText('Choose a label or a device.').waitFor()
    await changed.getByLabel('freezer').check()
    const devices = changed.getByRole('combobox', { name: 'Devices' })
    await devices.fill('Van 99')
    await changed.getByText('Nothing matches.').waitFor()
    await devices.fill('Van 7')
    await devices.press('Enter')
    await changed.getByRole('button', { name: 'Remove Van 7' }).waitFor()
    await changed.getByLabel('Confirm after, s').fill('90')
    await changed.getByLabel('Enabled').uncheck()
    await save(page)
    await card(page).getByText('Label freezer, Van 7').waitFor()
    await card(page).getByText('after 90 s').waitFor()
    await card(page).getByText('Disabled').waitFor()
    expect(await stored('Settings')).toMatchObject({
      shape: CIRCLE,
      labels: ['freezer'],
      deviceIds: ['van-7'],
      confirmSeconds: 90,
      enabled: false,
    })
  })

  test('two dispatchers who change one geofence keep each other’s changes', async () => {
    const { id } = await suite.made('/geofences', { name: 'Shared yard', shape: CIRCLE })
    const page = await suite.signedIn(`/geofences?geofence=${id}`)
    await card(page).getByRole('button', { name: 'Change' }).click()
    const changed = form(page, 'Change geofence')
    await changed.getByLabel('Confirm after, s').fill('30')
    await suite.call('PATCH', `/geofences/${id}`, { name: 'Main yard' })
    await save(page)
    await card(page).getByRole('heading', { name: 'Main yard' }).waitFor()
    expect(await stored('Main yard')).toMatchObject({ confirmSeconds: 30 })
    await card(page).getByRole('button', { name: 'Change' }).click()
    await changed.getByLabel('Name').fill('Depot')
    await suite.call('PATCH', `/geofences/${id}`, { name: 'Old yard' })
    await save(page)
    await changed
      .getByText('Somebody else has changed this in the meantime to “Old yard”.')
      .waitFor()
    await save(page)
    await card(page).getByRole('heading', { name: 'Depot' }).waitFor()
  })

  test('leaving a half-drawn geofence asks first, by a link and by Back', async () => {
    const page = await suite.signedIn('/rules')
    await follow(page, 'Geofences')
    await page.getByRole('button', { name: 'New geofence' }).click()
    await page.getByRole('button', { name: 'Draw a polygon' }).click()
    await click(page, 0.3, 0.3)
    await click(page, 0.6, 0.3)
    const question = page.getByRole('dialog', { name: 'Leave without saving' })
    for (const leave of [() => follow(page, 'Keys'), () => page.goBack()]) {
      await leave()
      await question.getByRole('button', { name: 'Cancel' }).click()
      await question.waitFor({ state: 'hidden' })
      expect(new URL(page.url()).pathname).toBe('/geofences')
      await form(page).getByText('Click the corners on the map.').waitFor()
    }
    await page.goBack()
    await question.getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { name: 'Rules', exact: true }).waitFor()
    await follow(page, 'Keys')
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
  })

  test('the error for a polygon that crosses itself names corners, not coordinates', async () => {
    const page = await suite.signedIn('/geofences?new=1')
    await page.getByRole('button', { name: 'Draw a polygon' }).click()
    await form(page).getByLabel('Corners').fill('0, 0\n1, 1\n0, 1\n1, 0')
    await form(page).getByLabel('Name').fill('Crossing')
    await save(page)
    await form(page).getByText('The edges after corner 1 and after corner 3 cross').waitFor()
  })

  test('a notification about a geofence starts with its form filled in', async () => {
    const { id } = await suite.made('/geofences', { name: 'Told', shape: CIRCLE })
    const page = await suite.signedIn(`/geofences?geofence=${id}`)
    await card(page).getByRole('link', { name: 'Notify me …' }).click()
    const dialog = page.getByRole('dialog', { name: 'New notification' })
    await dialog.getByRole('button', { name: 'Remove Told' }).waitFor()
    for (const type of ['Geofence entered', 'Geofence left']) {
      expect(await dialog.getByLabel(type).isChecked()).toBe(true)
    }
    expect(new URL(page.url()).search).toBe('')
  })

  test('it lists the devices inside, and since when', async () => {
    const shape = { ...CIRCLE, latitude: 10 }
    const { id } = await suite.made('/geofences', { name: 'Inside', shape })
    await eventually(async () => {
      await suite.report({ deviceId: 'van-8', latitude: 10, longitude: 16.4 })
      const { body } = await suite.call('GET', `/geofences/${id}/devices`)
      return (body.data as { items: object[] }).items.length === 1
    })
    const page = await suite.signedIn(`/geofences?geofence=${id}`)
    const inside = card(page).getByRole('list', { name: 'Inside' })
    await inside.getByRole('link', { name: 'van-8' }).waitFor()
  })

  test('a geofence named by a rule is not deleted, and the dialog says why', async () => {
    const { id } = await suite.made('/geofences', { name: 'Named', shape: CIRCLE })
    const rule = await suite.made('/rules', { name: 'Too long', when: { inside: id } })
    const page = await suite.signedIn(`/geofences?geofence=${id}`)
    await card(page).getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete geofence' })
    await dialog.getByRole('button', { name: 'Delete geofence' }).click()
    await dialog.getByText('The rule "Too long" names this geofence').waitFor()
    await suite.call('DELETE', `/rules/${rule.id}`)
    await dialog.getByRole('button', { name: 'Delete geofence' }).click()
    await page.getByText('Geofence deleted.').waitFor()
    expect((await suite.call('GET', `/geofences/${id}`)).status).toBe(404)
  })

  test('a file creates geofences, with a result for each feature, and all can be saved as a file', async () => {
    const page = await suite.signedIn('/geofences')
    await page.getByRole('button', { name: 'From a file' }).click()
    const dialog = page.getByRole('dialog', { name: 'Geofences from a file' })
    const point = { type: 'Point', coordinates: [16.4, 48.2] }
    const features = [
      { type: 'Feature', geometry: point, properties: { name: 'Imported', radius: 80 } },
      { type: 'Feature', geometry: point, properties: { name: 'Without radius' } },
      { type: 'Feature', geometry: point, properties: { name: 'Tagged', radius: 80, tags: [1] } },
    ]
    const collection = { type: 'FeatureCollection', generator: 'overpass-turbo', features }
    const buffer = Buffer.from(JSON.stringify(collection))
    const file = { name: 'places.geojson', mimeType: 'application/geo+json', buffer }
    await dialog.getByLabel('GeoJSON file').setInputFiles(file)
    await dialog.getByRole('button', { name: 'Import' }).click()
    await dialog.getByText('2 geofences created, 1 feature refused.').waitFor()
    const results = dialog.getByRole('list', { name: 'Results' }).getByRole('listitem')
    expect(await results.allTextContents()).toEqual([
      'Imported: created',
      expect.stringMatching(/^Without radius: A point needs a property radius/),
      'Tagged: created, without tags',
    ])
    // A second press would create all of them twice.
    expect(await dialog.getByRole('button', { name: 'Import' }).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Another file' }).click()
    const other = { name: 'other.json', mimeType: 'application/json', buffer: Buffer.from('[]') }
    await dialog.getByLabel('GeoJSON file').setInputFiles(other)
    await dialog.getByRole('button', { name: 'Import' }).click()
    await dialog.getByText('This is not a GeoJSON FeatureCollection.').waitFor()
    await page.keyboard.press('Escape')
    await items(page).filter({ hasText: 'Imported' }).waitFor()
    const downloaded = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export' }).click()
    const text = await readFile(await (await downloaded).path(), 'utf8')
    const { features: saved } = JSON.parse(text) as { features: { properties: object }[] }
    expect(saved.map(({ properties }) => properties)).toContainEqual({
      name: 'Imported',
      radius: 80,
    })
  })

  test('the search finds by name, and a click on the map selects', async () => {
    const shape = { ...CIRCLE, latitude: -20, radius: 5_000 }
    await suite.made('/geofences', { name: 'Quarry of the south', shape })
    const page = await suite.signedIn('/geofences')
    await page.getByRole('searchbox', { name: 'Search geofences' }).fill('south quarry')
    await eventually(async () => (await items(page).count()) === 1)
    await items(page).first().getByRole('button').click()
    await card(page).getByRole('heading', { name: 'Quarry of the south' }).waitFor()
    await card(page).getByRole('button', { name: 'Close' }).click()
    await eventually(async () => {
      await click(page, 0.5, 0.5)
      return card(page).isVisible()
    })
  })

  test('it is accessible and fits a phone, light and dark', async () => {
    const { id } = await suite.made('/geofences', { name: 'W'.repeat(64), shape: CIRCLE })
    const page = await suite.signedIn(`/geofences?geofence=${id}`, { viewport: PHONE })
    await card(page).getByText('No device is inside.').waitFor()
    expect(await faultsInLooks(page, ON_PHONE)).toEqual([])
    await newGeofence(page, 'Draw a circle')
    await form(page).getByLabel('Some devices').check()
    expect(await faultsInLooks(page, ON_PHONE)).toEqual([])
  })
})
