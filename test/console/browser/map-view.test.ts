import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'
import { paintedText, type Painted } from './painted.ts'
import { quickest } from './quickest.ts'

const AT_ONE_SPOT = 50
const RESTS_MS = 800

describeConsole('the view of the map', () => {
  const suite = consoleSuite()

  /** The position of a text once the map has stopped moving. */
  async function placeOf(page: Page, text: string): Promise<Painted> {
    return eventually(
      async () => {
        const found = await paintedText(page, text)
        const now: number = await page.evaluate('performance.now()')
        // The map fits itself to the first list, on a busy machine some time after it came.
        return found !== null && now - found.at > RESTS_MS && found
      },
      { everyMs: 50 },
    )
  }

  async function clickAt(page: Page, { x, y }: Painted): Promise<void> {
    await page.locator('.map-target').click({ position: { x, y } })
  }

  /** The opacity at a point of the devices' canvas, from 0 to 255. */
  function opacity(page: Page, x: number, y: number): Promise<number> {
    return page.evaluate(
      `[...document.querySelectorAll('.fleet-canvas')].at(-1).getContext('2d').getImageData(${x}, ${y}, 1, 1).data[3]`,
    )
  }

  test('the view is not moved by a hundred reports, wherever they are from', async () => {
    await suite.report(
      { deviceId: 'still', latitude: 48, longitude: 16 },
      { deviceId: 'mover', latitude: 46, longitude: 10 },
    )
    const page = await suite.signedIn()
    const before = await placeOf(page, 'still')
    for (let sent = 0; sent < 100; sent += 5) {
      await suite.report(
        ...Array.from({ length: 5 }, (_, index) => ({
          deviceId: 'mover',
          latitude: ((sent + index) * 37) % 80,
          longitude: ((sent + index) * 71) % 180,
          speed: (sent + index) / 3.6,
          timestamp: new Date(Date.now() - 1_000 + sent + index).toISOString(),
        })),
      )
    }
    await deviceRow(page, 'mover').getByText('99 km/h').waitFor()
    expect(await placeOf(page, 'still')).toEqual(before)
  })

  test('the mouse drags the map', async () => {
    await suite.report({ deviceId: 'anchor', latitude: 44, longitude: 12 })
    const page = await suite.signedIn('/?q=anchor')
    await deviceRow(page, 'anchor').waitFor()
    const before = await placeOf(page, 'anchor')
    await page.mouse.move(800, 400)
    await page.mouse.down()
    await page.mouse.move(920, 460, { steps: 12 })
    await page.mouse.up()
    await eventually(async () => ((await paintedText(page, 'anchor'))?.x ?? 0) >= before.x + 90)
    expect((await placeOf(page, 'anchor')).y).toBeGreaterThan(before.y + 40)
  })

  test('a click on devices at one place lists them, and one of them can be chosen', async () => {
    await suite.report(
      ...Array.from({ length: AT_ONE_SPOT }, (_, index) => ({
        deviceId: `spot-${String(index).padStart(2, '0')}`,
        latitude: 47.5,
        longitude: 15.5,
      })),
    )
    const page = await suite.signedIn('/?q=spot')
    await deviceRow(page, 'spot-00').waitFor()
    await clickAt(page, await placeOf(page, String(AT_ONE_SPOT)))
    const dialog = page.getByRole('dialog', { name: `${AT_ONE_SPOT} devices at this place` })
    await dialog.getByRole('button', { name: 'spot-07' }).click()
    await page.waitForURL(/device=spot-07/)
    await dialog.waitFor({ state: 'hidden' })
    // The device is alone now, and neither it nor its name covers the others.
    const others = await placeOf(page, String(AT_ONE_SPOT - 1))
    const name = await placeOf(page, 'spot-07')
    expect(Math.hypot(name.x - 23 - others.x, name.y - others.y)).toBeGreaterThan(30)
    expect(name.x).toBeGreaterThan(others.x)
  })

  test('the map shows the poles, 180° and (0, 0), and an arrow for heading 0', async () => {
    await suite.report(
      { deviceId: 'edge east', latitude: 0, longitude: 180 },
      { deviceId: 'edge west', latitude: 30, longitude: -180 },
      { deviceId: 'edge north', latitude: 90, longitude: 0 },
      { deviceId: 'edge south', latitude: -90, longitude: 0 },
      { deviceId: 'edge zero', latitude: 0, longitude: 0, heading: 0, speed: 5 },
      { deviceId: 'edge plain', latitude: 0, longitude: 100 },
    )
    const page = await suite.signedIn('/?q=edge')
    const place = async (name: string) => placeOf(page, `edge ${name}`)
    const zero = await place('zero')
    const [north, south] = [await place('north'), await place('south')]
    expect([north.y > 0, south.y < 800]).toEqual([true, true])
    // The world is as wide as it is high, and may appear several times.
    const world = south.y - north.y
    for (const [name, turn] of Object.entries({ north: 0, south: 0, east: 0.5, west: 0.5 })) {
      const turns = ((await place(name)).x - zero.x) / world - turn
      // Names are next to their devices, on one side or the other.
      expect(Math.abs(turns - Math.round(turns)) * world).toBeLessThan(50)
    }
    for (const [name, isPainted] of [
      ['zero', true],
      ['plain', false],
    ] as const) {
      await page.goto(`${suite.url}/?q=edge%20${name}`)
      await deviceRow(page, `edge ${name}`).waitFor()
      const { x, y } = await place(name)
      const [middle, tip] = [await opacity(page, x - 23, y), await opacity(page, x - 23, y - 13)]
      expect([name, middle, tip > 0]).toEqual([name, 255, isPainted])
    }
  })

  test('devices on both sides of 180° are one cluster, on the copy of the world in view', async () => {
    await suite.report(
      { deviceId: 'fiji east', latitude: -17, longitude: 179.99 },
      { deviceId: 'fiji west', latitude: -17, longitude: -179.99 },
    )
    const page = await suite.signedIn('/?q=fiji')
    await deviceRow(page, 'fiji west').waitFor()
    await page.getByRole('button', { name: 'Fit all' }).click()
    await placeOf(page, 'fiji west')
    await eventually(async () => {
      await page.getByRole('button', { name: 'Zoom out' }).click()
      return (await paintedText(page, '2')) !== null
    })
    const { x } = await placeOf(page, '2')
    const { width = 0 } = (await page.locator('.map-target').boundingBox()) ?? {}
    // The view leaves room for the devices' names on the right.
    expect(Math.abs(x - width / 2)).toBeLessThan(60)
  })

  test('on plain HTTP, without a clipboard, the map is live and copying works', async () => {
    const page = await suite.signedIn('/?device=still', { url: suite.plainUrl })
    expect(await page.evaluate(`isSecureContext || 'clipboard' in navigator`)).toBe(false)
    await page.getByRole('status', { name: 'Connection' }).getByText('live').waitFor()
    await page.getByRole('button', { name: 'Copy coordinates' }).click()
    await page.getByRole('button', { name: 'Copy coordinates' }).getByText('Copied').waitFor()
    await suite.report({ deviceId: 'over-http', latitude: 1, longitude: 1 })
    await page.getByRole('searchbox').fill('over-http')
    await deviceRow(page, 'over-http').waitFor()
  })

  test('the map stays smooth with 10 000 devices: 95 of 100 frames take at most 32 ms', async () => {
    for (let thousand = 0; thousand < 10; thousand += 1) {
      await suite.report(
        ...Array.from({ length: 1_000 }, (_, index) => ({
          deviceId: `many-${thousand}-${index}`,
          latitude: 36 + ((index * 7.31) % 24),
          longitude: -9 + ((index * 3.77 + thousand) % 40),
          heading: index % 360,
        })),
      )
    }
    // The browser draws on the processors that the service needs to store them.
    const last = 'many-9-999'
    await eventually(async () => (await suite.call('GET', `/devices/${last}`)).status === 200, {
      withinMs: 60_000,
      everyMs: 100,
    })
    const page = await suite.signedIn('/?q=many')
    await page.getByRole('status', { name: 'Connection' }).getByText('live').waitFor()
    await page.locator('[aria-setsize="10000"]').first().waitFor()
    expect(await quickest(32, () => dragged(page))).toBeLessThanOrEqual(32)
  })

  async function dragged(page: Page): Promise<number> {
    await page.evaluate(`{
      window.frames95 = []
      const step = (now) => { frames95.push(now); if (frames95.length < 5000) requestAnimationFrame(step) }
      requestAnimationFrame(step)
    }`)
    await page.mouse.move(800, 300)
    await page.mouse.down()
    for (let step = 0; step < 120; step += 1) {
      await page.mouse.move(800 + 200 * Math.sin(step / 20), 300 + 100 * Math.cos(step / 20))
    }
    await page.mouse.up()
    return page.evaluate(`frames95.slice(1).map((at, n) => at - frames95[n]).sort((a, b) => a - b)[
      Math.floor(0.95 * (frames95.length - 1))]`)
  }
})
