import { describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../../eventually.ts'
import { accessFaults } from './access-faults.ts'
import { describeConsole } from './chromium.ts'
import { consoleSuite, deviceRow } from './console-harness.ts'
import { paintedText } from './painted.ts'

type Pill = {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
  readonly radius: number
  readonly fill: string
}

/** From a device to the text of its label on the right. */
const TEXT_BESIDE = 23
const VIENNA = { latitude: 48.20849, longitude: 16.37208 }

const CIRCLE = { type: 'circle', latitude: 48.2, longitude: 16.4, radius: 20_000 }

describeConsole('what the map shows besides its base', () => {
  const suite = consoleSuite()

  describe('geofences and rules on the map page', () => {
    const report = (deviceId: string, more: object = {}) =>
      suite.report({ deviceId, latitude: 48.2, longitude: 16.4, ...more })

    async function hasItems(path: string): Promise<boolean> {
      const { body } = await suite.call('GET', path)
      return (body.data as { items: object[] }).items.length > 0
    }

    const rows = (page: Page) => page.getByRole('list', { name: 'Devices' }).getByRole('listitem')

    test('a switch shows geofences on the map, and remembers its state', async () => {
      await suite.made('/geofences', { name: 'Big yard', shape: CIRCLE })
      await report('van-1')
      const page = await suite.signedIn('/')
      await deviceRow(page, 'van-1').waitFor()
      const button = page.getByRole('button', { name: 'Geofences', exact: true })
      expect(await paintedText(page, 'Big yard')).toBe(null)
      await button.click()
      await eventually(async () => (await paintedText(page, 'Big yard')) !== null)
      expect(await accessFaults(page)).toEqual([])
      await page.reload()
      await eventually(async () => (await paintedText(page, 'Big yard')) !== null)
      expect(await button.getAttribute('aria-pressed')).toBe('true')
    })

    test('the list has only the devices in a geofence, and follows them in and out', async () => {
      const shape = { ...CIRCLE, latitude: 10 }
      const { id } = await suite.made('/geofences', { name: 'Field', shape })
      await eventually(async () => {
        await report('tractor-1', { latitude: 10 })
        return hasItems(`/geofences/${id}/devices`)
      })
      await report('tractor-2', { latitude: 20 })
      const page = await suite.signedIn('/')
      await deviceRow(page, 'tractor-2').waitFor()
      await page.getByRole('combobox', { name: 'Geofence' }).selectOption(id)
      await deviceRow(page, 'tractor-2').waitFor({ state: 'detached' })
      await deviceRow(page, 'tractor-1').waitFor()
      expect(new URL(page.url()).searchParams.get('geofence')).toBe(id)
      // Only a circle wide enough on the map shows its name.
      await page.getByRole('button', { name: 'Fit all' }).click()
      await eventually(async () => (await paintedText(page, 'Field')) !== null)
      await report('tractor-2', { latitude: 10 })
      await deviceRow(page, 'tractor-2').waitFor()
      await report('tractor-1', { latitude: 30 })
      await deviceRow(page, 'tractor-1').waitFor({ state: 'detached' })
    })

    test('a raised rule marks the row until it is cleared, and the list can show only such devices', async () => {
      const when = { field: 'temperature', above: 30 }
      const { id } = await suite.made('/rules', { name: 'Hot', when })
      const heat = (deviceId: string, temperature: number) =>
        report(deviceId, { latitude: 0, attributes: { temperature } })
      await eventually(async () => {
        await heat('oven-1', 40)
        return hasItems(`/rules/${id}/devices`)
      })
      await heat('oven-2', 20)
      const page = await suite.signedIn('/')
      await deviceRow(page, 'oven-1').getByText('Hot').waitFor()
      await deviceRow(page, 'oven-2').waitFor()
      expect(await deviceRow(page, 'oven-2').getByText('Hot').count()).toBe(0)
      await heat('oven-2', 50)
      await deviceRow(page, 'oven-2').getByText('Hot').waitFor()
      await page.getByRole('combobox', { name: 'Rule raised' }).selectOption(id)
      await eventually(async () => (await rows(page).count()) === 2)
      await heat('oven-1', 10)
      await deviceRow(page, 'oven-1').waitFor({ state: 'detached' })
      await heat('oven-2', 10)
      await page.getByRole('heading', { name: 'No device matches' }).waitFor()
      await page.getByRole('button', { name: 'Show all' }).click()
      await deviceRow(page, 'oven-1').waitFor()
      expect(await deviceRow(page, 'oven-1').getByText('Hot').count()).toBe(0)
    })
  })

  describe('markers and labels of the map', () => {
    /** The labels of the frame that is painted next. */
    async function pills(page: Page): Promise<readonly Pill[]> {
      // A map of another size is rendered.
      const { width = 0, height = 0 } = page.viewportSize() ?? {}
      await page.setViewportSize({ width, height: height === 800 ? 790 : 800 })
      return page.evaluate(`new Promise((resolve) => {
      const { prototype } = CanvasRenderingContext2D
      const { roundRect, clearRect, fill } = prototype
      let found = []
      prototype.clearRect = function (...all) { if (this.canvas.className === 'fleet-canvas') found = []; return clearRect.apply(this, all) }
      prototype.roundRect = function (left, top, width, height, radius) {
        found.push({ left, top, right: left + width, bottom: top + height, radius })
        return roundRect.call(this, left, top, width, height, radius)
      }
      prototype.fill = function (...all) { const last = found.at(-1); if (last && !last.fill) last.fill = this.fillStyle; return fill.apply(this, all) }
      setTimeout(() => {
        Object.assign(prototype, { roundRect, clearRect, fill })
        resolve(found)
      }, 700)
    })`)
    }

    async function opened(query: string, row: string): Promise<Page> {
      const page = await suite.signedIn(query)
      await deviceRow(page, row).first().waitFor()
      await page.getByRole('status', { name: 'Connection' }).getByText('live').waitFor()
      return page
    }

    /** The position of a device with a label on its right, once the map has stopped moving. */
    async function deviceAt(page: Page, name: string) {
      return eventually(async () => {
        const text = await paintedText(page, name)
        const now: number = await page.evaluate('performance.now()')
        return text !== null && now - text.at > 600 && { x: text.x - TEXT_BESIDE, y: text.y }
      })
    }

    /** The colours of a row of the canvas, as `red,green,blue,alpha`. */
    function colours(page: Page, { x, y }: { x: number; y: number }, reach: number) {
      return page.evaluate<string[]>(`(() => {
      const context = [...document.querySelectorAll('.fleet-canvas')].at(-1).getContext('2d')
      const { data } = context.getImageData(${Math.round(x) - reach}, ${Math.round(y)}, ${2 * reach}, 1)
      return Array.from({ length: ${2 * reach} }, (_, n) => data.slice(4 * n, 4 * n + 4).join())
    })()`)
    }

    test('a marker is 14 px wide in a white ring of 2 px, and has an arrow only above 3 km/h', async () => {
      await suite.report(
        { deviceId: 'mark parked', latitude: 48, longitude: 16, heading: 0, speed: 0.8 },
        { deviceId: 'mark moving', latitude: 48.01, longitude: 16, heading: 0, speed: 0.9 },
      )
      for (const [name, hasArrow] of [
        ['parked', false],
        ['moving', true],
      ] as const) {
        const page = await opened(`/?q=mark%20${name}`, `mark ${name}`)
        const { here, row } = await eventually(async () => {
          const here = await deviceAt(page, `mark ${name}`)
          const row = await colours(page, here, 12)
          const disc = row.filter((one) => one === '23,128,63,255').length
          const whole = row.filter((one) => !one.endsWith(',0')).length
          // The edges of a circle are blended. If the map moved meanwhile, it is checked again.
          return disc >= 12 && disc <= 14 && whole >= 17 && whole <= 20 && { here, row }
        })
        expect(row.filter((one) => one === '255,255,255,255').length).toBeGreaterThanOrEqual(2)
        const above = await colours(page, { x: here.x, y: here.y - 12 }, 1)
        expect([name, above.some((one) => !one.endsWith(',0'))]).toEqual([name, hasArrow])
      }
    })

    test('labels are pills in the surface colour, and cover neither each other, nor markers, nor controls', async () => {
      await suite.report(
        ...Array.from({ length: 40 }, (_, index) => ({
          deviceId: `crowd ${index}`,
          latitude: 47 + (index % 8) / 50,
          longitude: 15 + Math.floor(index / 8) / 20,
          speed: 5,
        })),
      )
      const page = await opened('/?q=crowd', 'crowd 0')
      await page.locator('[aria-setsize="40"]').first().waitFor()
      await page.getByRole('button', { name: 'Fit all' }).click()
      // Not by waitForFunction, whose eval the page's policy refuses.
      await eventually(() =>
        page.evaluate<boolean>(`[...painted.keys()].some((text) => text.includes('crowd'))`),
      )
      // On a busy machine the next frame may come too late to be seen.
      const labels = await eventually(async () => {
        const seen = await pills(page)
        return seen.length > 8 && seen
      })
      for (const { radius, fill, top, bottom } of labels) {
        expect([radius, bottom - top]).toEqual([6, 20])
        expect(fill).toMatch(/0\.92\)$/)
      }
      const controls: readonly Pill[] = await page.evaluate(`(() => {
      const from = document.querySelector('.map').getBoundingClientRect()
      return [...document.querySelectorAll('.map-buttons > *, .map-scale, .map-credits')].map((one) => {
        const { left, top, right, bottom } = one.getBoundingClientRect()
        return { left: left - from.left, top: top - from.top, right: right - from.left, bottom: bottom - from.top }
      })
    })()`)
      const all = [...labels, ...controls]
      const covered = labels.flatMap((one, index) =>
        all.slice(index + 1).filter((other) => overlap(one, other)),
      )
      expect(covered).toEqual([])
    })

    test('a label hides the name of a town beneath it, and no other name', async () => {
      await suite.report({ deviceId: 'here', ...VIENNA })
      const page = await opened('/?q=here', 'here')
      await deviceAt(page, 'here')
      const seen = async () => {
        await page.evaluate('painted.clear()')
        await pills(page)
        return page.evaluate<string[]>(`[...painted.keys()]`)
      }
      const towns = ['Schwechat', 'Klosterneuburg', 'Perchtoldsdorf', 'Korneuburg']
      await eventually(async () => (await seen()).some((name) => towns.includes(name)))
      expect(await seen()).not.toContain('Vienna')
      await page.getByRole('searchbox').fill('nothing')
      await eventually(async () => (await seen()).includes('Vienna'))
    })

    test('a label has a second line if its device is selected, or from zoom 14', async () => {
      await suite.report({ deviceId: 'note', latitude: 46, longitude: 14, speed: 10 })
      const page = await opened('/?q=note', 'note')
      await deviceAt(page, 'note')
      expect(await paintedText(page, 'Moving 36 km/h')).toBe(null)
      await deviceRow(page, 'note').getByRole('button').click()
      await eventually(async () =>
        (await pills(page)).some(({ top, bottom }) => bottom - top === 34),
      )
      await page.keyboard.press('Escape')
      await page.waitForURL((url) => !url.search.includes('device'))
      for (let zoom = 0; zoom < 5; zoom += 1) {
        await page.getByRole('button', { name: 'Zoom in' }).click()
        await suite.pause(250)
      }
      await eventually(async () =>
        (await pills(page)).some(({ top, bottom }) => bottom - top === 34),
      )
    })
  })
})

function overlap(a: Pick<Pill, 'left' | 'top' | 'right' | 'bottom'>, b: typeof a): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}
