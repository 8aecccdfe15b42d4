import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { UnreadableError } from '../../../../schemas/formats/histories/format.ts'
import { readDamaged } from './read-damaged.ts'
import { history } from './read-history.ts'

const FILES = [
  ...['records.json', 'timeline-android.json', 'location-history-ios.json', '2024-03.rec'],
  ...['traccar-positions.json', 'traccar-route.csv', 'dawarich.geojson', 'overland.geojson'],
  ...['phonetrack.gpx', 'own.ndjson', 'own.csv', 'gpslogger.csv', 'osmand-bearing.gpx'],
  ...['ocat.json', 'ocat.geojson', 'ocat.csv', 'geopulse.csv'],
  ...['walk.tcx', 'walk.kml', 'ride.fit'],
]

test.each(FILES)(
  '%s, cut anywhere or with any byte damaged, yields the preceding items',
  async (file) => {
    const bytes = history(file)
    const whole = (await readDamaged(bytes)).items
    // A cut line may still be valid.
    const isTree = /\.(?:json|geojson|gpx|tcx|kml|fit)$/.test(file)
    await fc.assert(
      fc.asyncProperty(
        fc.nat(bytes.length - 1),
        fc.option(fc.nat(255), { nil: undefined }),
        async (at, byte) => {
          const damaged = byte === undefined ? bytes.subarray(0, at) : Buffer.from(bytes)
          if (byte !== undefined) damaged[at] = byte
          const { items, error } = await readDamaged(damaged)
          if (error !== undefined) expect(error).toBeInstanceOf(UnreadableError)
          const before = whole.filter(({ place }) => endOf(bytes, file, place) < at)
          if (byte === undefined && isTree) expect(items).toEqual(whole.slice(0, items.length))
          if (items.length > 0) expect(items.slice(0, before.length)).toEqual(before)
        },
      ),
      { numRuns: 150 },
    )
  },
)

/** An offset after the item, or for elements, which have no lines, the file's end. */
function endOf(bytes: Buffer, file: string, place: number): number {
  if (/(?<!nd)json$|tcx$|kml$|fit$/.test(file)) return Infinity
  let end = -1
  // A GPX point ends some lines later.
  for (let line = 0; line < place + (file.endsWith('gpx') ? 12 : 0); line += 1) {
    end = bytes.indexOf('\n', end + 1)
    if (end === -1) return Infinity
  }
  return end
}
