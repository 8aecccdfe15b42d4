import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { Streets } from '../../../admin-api/places/streets.ts'
import { metresBetween, type Coordinates } from '../../../schemas/geo/distance.ts'
import { ownDirectory } from '../../own-directory.ts'
import { streetFile, type Road, type RoadSchema } from './street-file.ts'

const MARKT: Road = {
  name: 'Marktstraße',
  path: [
    [16.745, 48.02],
    [16.755, 48.02],
  ],
}
const NEAR = { latitude: 48.0203, longitude: 16.751 }

async function openStreets(content: Buffer | string | undefined) {
  const path = join(await ownDirectory(), 'town.pmtiles')
  if (content !== undefined) writeFileSync(path, content)
  const clock = { time: 0, now: () => clock.time }
  const warned: unknown[] = []
  const logger = { warn: (...line: unknown[]) => void warned.push(line) }
  const maps = [{ kind: 'pmtiles file', name: 'Town', file: path } as const]
  return { streets: new Streets({ maps, clock, logger }), clock, path, warned }
}

const warning = (file: string, reason: unknown) => [
  { map: 'Town', file, reason },
  'could not read streets from a map of MAP_PMTILES: positions get only town names',
]

test.each<RoadSchema>(['protomaps', 'protomaps 3', 'openmaptiles'])(
  'the nearest named road within 100 m is found in the schema of %s, not a railway and not a road without a name',
  async (schema) => {
    const rail: Road = {
      name: 'Ostbahn',
      kind: 'rail',
      path: MARKT.path.map(([x]) => [x, 48.0203]),
    }
    const drive: Road = { path: MARKT.path.map(([x]) => [x, 48.0204]) }
    const { streets } = await openStreets(streetFile([rail, MARKT, drive], schema))
    const found = await streets.nearest(NEAR)
    expect(found?.name).toBe('Marktstraße')
    expect(found?.distanceMetres).toBeCloseTo(33.4, 0)
    expect(await streets.nearest({ ...NEAR, latitude: 48.0212 })).toBeUndefined()
  },
)

/** Degrees; roads are up to a kilometre from a middle anywhere but at the poles. */
const middle = fc.record({
  latitude: fc.double({ min: -75, max: 75, noNaN: true }),
  longitude: fc.double({ min: -179.9, max: 179.9, noNaN: true }),
})
const offset = fc.tuple(fc.integer({ min: -500, max: 500 }), fc.integer({ min: -500, max: 500 }))
const lines = fc.array(fc.array(offset, { minLength: 2, maxLength: 4 }), {
  minLength: 1,
  maxLength: 6,
})

/** The great-circle distance from points of the road a metre apart at most. */
function metresFrom({ path }: Road, position: Coordinates): number {
  let least = Infinity
  for (const [n, [east, north]] of path.slice(1).entries()) {
    const [west, south] = path[n]!
    for (let part = 0; part <= 1; part += 1 / 1_500) {
      const at = {
        latitude: south + part * (north - south),
        longitude: west + part * (east - west),
      }
      least = Math.min(least, metresBetween(position, at))
    }
  }
  return least
}

test('the nearest road is always the one with the shortest great-circle distance', async () => {
  await fc.assert(
    fc.asyncProperty(middle, lines, offset, async ({ latitude, longitude }, roads, spot) => {
      const across = 111_195 * Math.cos((latitude * Math.PI) / 180)
      const place = ([east, north]: readonly [number, number]) =>
        [longitude + east / across, latitude + north / 111_195] as const
      const all = roads.map((line, n): Road => ({ name: `Road ${n}`, path: line.map(place) }))
      const [east, north] = place(spot)
      const position = { latitude: north, longitude: east }
      const { streets } = await openStreets(streetFile(all))
      const found = await streets.nearest(position)
      const distances = all.map((road) => metresFrom(road, position))
      const nearest = Math.min(...distances)
      if (nearest > 101.5) expect(found).toBeUndefined()
      if (nearest > 98.5) return
      expect(Math.abs(found!.distanceMetres - nearest)).toBeLessThan(1.5)
      expect(distances[Number(found!.name.slice(5))]).toBeLessThan(nearest + 1.5)
      expect(metresBetween(found!, position)).toBeCloseTo(found!.distanceMetres, 0)
    }),
    { numRuns: 60 },
  )
})

test('a street is found beyond the 180th meridian', async () => {
  const path = [
    [-179.9999, -16.5],
    [-179.99, -16.5],
  ] as const
  const { streets } = await openStreets(streetFile([{ name: 'Date Line Road', path }]))
  const found = await streets.nearest({ latitude: -16.5001, longitude: 179.9999 })
  expect(found).toMatchObject({ name: 'Date Line Road' })
  expect(found?.distanceMetres).toBeLessThan(30)
})

/** The header says so in two places: of the directories, of the tiles. */
function zstd(file: Buffer): Buffer {
  file.set([4, 4], 97)
  return file
}

test.each<[string, Buffer | string | undefined, unknown]>([
  ['missing', undefined, 'there is no such file'],
  ['something else', 'x'.repeat(20_000), 'Wrong magic number for PMTiles archive'],
  [
    'packed in another way',
    zstd(streetFile([MARKT])),
    'its compression is not supported: use gzip',
  ],
  ['cut off', streetFile([MARKT]).subarray(0, -30), 'it is cut off'],
])('with a file that is %s there is no street, and one warning', async (_what, content, reason) => {
  const { streets, clock, path, warned } = await openStreets(content)
  for (let n = 0; n < 4; n += 1) {
    expect(await streets.nearest(NEAR)).toBeUndefined()
    clock.time += 6_000
  }
  expect(warned).toEqual([warning(path, reason)])
})

test('a file that is replaced, lost and back is noticed within 10 s', async () => {
  const { streets, clock, path, warned } = await openStreets(streetFile([MARKT]))
  const nameAfter = async (ms: number) => {
    clock.time += ms
    return (await streets.nearest(NEAR))?.name
  }
  expect(await nameAfter(0)).toBe('Marktstraße')
  writeFileSync(`${path}.new`, streetFile([{ ...MARKT, name: 'Neue Marktstraße' }]))
  renameSync(`${path}.new`, path)
  expect(await nameAfter(10_000)).toBe('Neue Marktstraße')
  rmSync(path)
  expect(await nameAfter(10_000)).toBeUndefined()
  expect(warned).toEqual([warning(path, 'there is no such file')])
  writeFileSync(path, streetFile([MARKT]))
  expect(await nameAfter(10_000)).toBe('Marktstraße')
  expect(warned).toHaveLength(1)
})

test('a stream that cannot wait has a street once its tiles are read', async () => {
  const { streets } = await openStreets(streetFile([MARKT]))
  expect(streets.nearestRead(NEAR)).toBeUndefined()
  await streets.nearest(NEAR)
  expect(streets.nearestRead(NEAR)?.name).toBe('Marktstraße')
})
