import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { UnreadableError, type FileItem } from '../../../../schemas/formats/histories/format.ts'
import { readPoints } from '../../../../schemas/formats/histories/read-points.ts'
import { textOf } from '../../../../commands/import/import-files.ts'
import { history } from './read-history.ts'

const FILES = [
  ...['records.json', 'timeline-android.json', 'location-history-ios.json', '2024-03.rec'],
  ...['traccar-positions.json', 'traccar-route.csv', 'dawarich.geojson', 'overland.geojson'],
  ...['phonetrack.gpx', 'own.ndjson', 'own.csv', 'gpslogger.csv', 'osmand-bearing.gpx'],
  ...['ocat.json', 'ocat.geojson', 'ocat.csv', 'geopulse.csv'],
]

async function read(bytes: Uint8Array): Promise<{ items: FileItem[]; error?: unknown }> {
  async function* source() {
    yield bytes
  }
  const items: FileItem[] = []
  try {
    const read = await readPoints(textOf(source()))
    for await (const some of read.items) items.push(...some)
    return { items }
  } catch (error) {
    return { items, error }
  }
}

test.each(FILES)(
  '%s, cut anywhere or with any byte damaged, gives the items before',
  async (file) => {
    const bytes = history(file)
    const whole = (await read(bytes)).items
    // A line that is cut may still be one.
    const isTree = /\.(?:json|geojson|gpx)$/.test(file)
    await fc.assert(
      fc.asyncProperty(
        fc.nat(bytes.length - 1),
        fc.option(fc.nat(255), { nil: undefined }),
        async (at, byte) => {
          const damaged = byte === undefined ? bytes.subarray(0, at) : Buffer.from(bytes)
          if (byte !== undefined) damaged[at] = byte
          const { items, error } = await read(damaged)
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

/** A place after the item; of JSON the whole file, whose elements have no lines. */
function endOf(bytes: Buffer, file: string, place: number): number {
  if (file.endsWith('json') && !file.endsWith('ndjson')) return Infinity
  let end = -1
  // A point of GPX ends some lines later.
  for (let line = 0; line < place + (file.endsWith('gpx') ? 12 : 0); line += 1) {
    end = bytes.indexOf('\n', end + 1)
    if (end === -1) return Infinity
  }
  return end
}
