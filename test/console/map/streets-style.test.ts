import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import MVT from 'ol/format/MVT.js'
import type Style from 'ol/style/Style.js'
import { PMTiles, type Source } from 'pmtiles'
import { streetsStyle } from '../../../console/map/streets-style.ts'
import { toMercator } from '../../../schemas/geo/mercator.ts'
import type { Palette } from '../../../console/core/palette.ts'
import { MIDDLE } from '../town/plane.ts'
import { town } from '../town/town.ts'

/** Colours named after their use. */
const palette = new Proxy({} as Palette, { get: (_all, name) => String(name) })
const files = { 3: town({ version: 3 }), 4: town() }
const METRES_PER_PIXEL_AT_0 = 156_543.03392804097

/** The features of the town's middle tile at a zoom, in the order of the tile. */
async function drawn({ zoom, version = 4 }: { zoom: number; version?: 3 | 4 }) {
  const file = files[version]
  const source: Source = {
    getKey: () => 'town',
    getBytes: async (offset, length) => ({
      data: new Uint8Array(file.subarray(offset, offset + length)).buffer,
    }),
  }
  const archive = new PMTiles(source, undefined, async (data) => {
    return new Uint8Array(gunzipSync(new Uint8Array(data))).buffer
  })
  const z = Math.min(15, Math.floor(zoom) - 1)
  const { x, y } = toMercator(MIDDLE.longitude, MIDDLE.latitude)
  const tile = await archive.getZxy(z, Math.floor(x * 2 ** z), Math.floor(y * 2 ** z))
  const style = streetsStyle(palette, 'en')
  if (tile === undefined) throw new Error('the town has no such tile')
  return new MVT().readFeatures(tile.data).flatMap((feature) => {
    return [style(feature, METRES_PER_PIXEL_AT_0 / 2 ** zoom) ?? []].flat().map(described)
  })
}

/** Styles are reused, so their contents are copied. */
function described(style: Style) {
  const colour: unknown = style.getStroke()?.getColor() ?? style.getFill()?.getColor()
  return {
    colour,
    width: style.getStroke()?.getWidth(),
    name: style.getText()?.getText() ?? undefined,
    weight: style.getZIndex() ?? 0,
  }
}

type Drawn = Awaited<ReturnType<typeof drawn>>
const names = (all: Drawn) => all.flatMap(({ name }) => (typeof name === 'string' ? [name] : []))
const widest = (all: Drawn, colour: string) =>
  Math.max(0, ...all.filter((one) => one.colour === colour).map(({ width = 0 }) => width))

describe('the style of streets', () => {
  test('the third version of the schema is drawn like the fourth', async () => {
    for (const zoom of [13, 18]) {
      const fourth = await drawn({ zoom })
      expect(await drawn({ zoom, version: 3 })).toEqual(fourth)
      expect(fourth.length).toBeGreaterThan(100)
    }
  })

  test('roads are wider with their importance and the zoom, and their casings wider still', async () => {
    const far = await drawn({ zoom: 14 })
    const near = await drawn({ zoom: 17 })
    for (const all of [far, near]) {
      expect(widest(all, 'road')).toBeGreaterThan(widest(all, 'street'))
      expect(widest(all, 'casing')).toBeGreaterThan(widest(all, 'road'))
    }
    expect(widest(near, 'street')).toBeGreaterThan(2 * widest(far, 'street'))
  })

  test('road fills cover all casings except those of bridges, so that crossings are open', async () => {
    const roads = (await drawn({ zoom: 16 })).filter(({ width = 0 }) => width > 1)
    const weights = (colour: string) =>
      roads.filter((one) => one.colour === colour).map(({ weight }) => weight)
    const lowestFill = Math.min(...weights('street'), ...weights('road'))
    const above = weights('casing').filter((weight) => weight > lowestFill)
    expect(above.length).toBeGreaterThan(0)
    expect(above.length).toBeLessThan(weights('casing').length / 10)
    expect(Math.max(...above)).toBeLessThan(Math.max(...weights('road')))
  })

  test('the closer the zoom, the smaller the features with names', async () => {
    const [town = [], streets = [], houses = []] = await Promise.all(
      [12, 17, 18].map(async (zoom) => names(await drawn({ zoom }))),
    )
    expect(town).toEqual(['Musterstadt'])
    expect(streets).toEqual(expect.arrayContaining(['Hauptstraße', 'Lindenstraße']))
    expect(streets).not.toContain('1')
    expect(houses).toContain('1')
  })

  test('a town is named before its streets, and its streets before its houses', async () => {
    const all = await drawn({ zoom: 15 })
    const weightOf = (wanted: string) => all.find(({ name }) => name === wanted)?.weight ?? NaN
    expect(weightOf('Musterstadt')).toBeGreaterThan(weightOf('Hauptstraße'))
    expect(weightOf('Hauptstraße')).toBeGreaterThan(0)
  })

  test('houses are drawn only where they are distinguishable', async () => {
    const has = async (zoom: number) =>
      (await drawn({ zoom })).some(({ colour, width }) => colour === 'casing' && width === 0.6)
    expect([await has(14), await has(16)]).toEqual([false, true])
  })
})
