import { gunzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import { PMTiles, type Source } from 'pmtiles'
import { pmtiles, type Tile } from '../../../console/world/pmtiles.ts'

const tile = (z: number, x: number, y: number, text: string): Tile => ({
  z,
  x,
  y,
  data: Buffer.from(text),
})

function read(tiles: readonly Tile[]) {
  const bounds = [16.2, 48.1, 16.6, 48.3] as const
  const file = pmtiles({ tiles, minZoom: 0, maxZoom: 7, bounds, metadata: { name: 'test' } })
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

test('a PMTiles file returns every tile, and nothing where there is none', async () => {
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
  expect(await map.getHeader()).toMatchObject({
    minZoom: 0,
    maxZoom: 7,
    tileType: 1,
    minLon: 16.2,
    minLat: 48.1,
    maxLon: 16.6,
    maxLat: 48.3,
    centerZoom: 0,
    centerLon: 16.4,
    centerLat: 48.2,
  })
  expect(await map.getMetadata()).toEqual({ name: 'test' })
})

test('a PMTiles file stores identical tiles once', () => {
  const same = Array.from({ length: 64 }, (_, index) => {
    return tile(3, index % 8, Math.floor(index / 8), 'sea '.repeat(500))
  })
  expect(read(same).file.length).toBeLessThan(400)
})
