import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { PMTiles, type Source } from 'pmtiles'
import type { Position } from 'geojson'
import { contains, planar } from '../../../console/world/planar.ts'
import { pmtiles, type Tile } from '../../../console/world/pmtiles.ts'
import { countriesAt, land } from '../../../console/world/sources.ts'

describe('a PMTiles file', () => {
  const tile = (z: number, x: number, y: number, text: string): Tile => ({
    ...{ z, x, y },
    data: Buffer.from(text),
  })

  function read(tiles: readonly Tile[]) {
    const file = pmtiles({ tiles, minZoom: 0, maxZoom: 7, metadata: { name: 'test' } })
    const source: Source = {
      getKey: () => 'test',
      getBytes: async (offset, length) => ({
        data: new Uint8Array(file.subarray(offset, offset + length)).buffer,
      }),
    }
    return {
      file,
      map: new PMTiles(source, undefined, async (data, compression) => {
        return Number(compression) === 1
          ? data
          : new Uint8Array(gunzipSync(new Uint8Array(data))).buffer
      }),
    }
  }

  test('gives every tile back, and nothing where there is none', async () => {
    const tiles: Tile[] = []
    for (let z = 0; z <= 6; z += 1) {
      for (let x = 0; x < 2 ** z; x += 1) {
        for (let y = 0; y < 2 ** z; y += 2) tiles.push(tile(z, x, y, `${z}/${x}/${y}`))
      }
    }
    const { map } = read(tiles)
    for (const { z, x, y } of tiles) {
      const found = await map.getZxy(z, x, y)
      expect(Buffer.from(found?.data ?? new ArrayBuffer(0)).toString()).toBe(`${z}/${x}/${y}`)
    }
    expect(await map.getZxy(6, 0, 1)).toBeUndefined()
    expect(await map.getHeader()).toMatchObject({ minZoom: 0, maxZoom: 7, tileType: 1 })
    expect(await map.getMetadata()).toEqual({ name: 'test' })
  })

  test('holds tiles that look the same once', () => {
    const same = Array.from({ length: 64 }, (_, index) => {
      return tile(3, index % 8, Math.floor(index / 8), 'sea '.repeat(500))
    })
    expect(read(same).file.length).toBeLessThan(400)
  })
})

describe('areas on a plane', () => {
  test('are cut at 180°', () => {
    const { coordinates } = planar({
      type: 'Polygon',
      coordinates: [
        [
          [170, 10],
          [170, -10],
          [-170, -10],
          [-170, 10],
          [170, 10],
        ].reverse(),
      ],
    })
    expect(coordinates).toHaveLength(2)
    for (const [ring = []] of coordinates) {
      const longitudes = ring.map(([x = 0]) => x)
      expect(Math.max(...longitudes) - Math.min(...longitudes)).toBeCloseTo(10)
    }
  })

  test.each([false, true])(
    'keep their inside, whichever way the ring runs (reversed: %p)',
    (reversed) => {
      const ring = [
        [0, 0],
        [0, 10],
        [10, 10],
        [10, 0],
        [0, 0],
      ]
      const hole = [
        [4, 4],
        [6, 4],
        [6, 6],
        [4, 6],
        [4, 4],
      ]
      const rings = reversed ? [[...ring].reverse(), [...hole].reverse()] : [ring, hole]
      const { coordinates } = planar({ type: 'Polygon', coordinates: rings })
      expect(coordinates).toHaveLength(1)
      expect(coordinates[0]).toHaveLength(2)
      const xs = coordinates.flat(2).map(([x = 0]) => x)
      expect([Math.min(...xs), Math.max(...xs)].map((x) => Math.round(x))).toEqual([0, 10])
    },
  )
})

describe.each(['110m', '50m', '10m'] as const)('the land at %s', (scale) => {
  const polygons = land(countriesAt(scale).areas).flatMap(({ geometry }) => geometry.coordinates)
  const isLand = (place: Position) =>
    polygons.some(([outer = [], ...holes]) => {
      return contains(outer, place) && !holes.some((hole) => contains(hole, place))
    })

  test.each([
    ['the Atlantic', -30, 30],
    ['the Pacific', -150, 0],
    ['the Mediterranean', 5, 40],
    ['the North Pole', 0, 89],
  ])('leaves out %s', (_sea, ...place) => expect(isLand(place)).toBe(false))

  test.each([
    ['Antarctica', 0, -85],
    ['Antarctica at 180°', -179.5, -85],
    ['Siberia', 100, 60],
    ['Siberia beyond 180°', -179, 67],
  ])('covers %s', (_land, ...place) => expect(isLand(place)).toBe(true))
})
