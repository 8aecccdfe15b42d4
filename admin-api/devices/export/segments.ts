import type { PositionRecord } from '../../../schemas/devices/read-models.ts'
import { isLeap } from '../../../schemas/geo/unknown-path.ts'
import { LeapFilter } from '../../../schemas/geo/leap-filter.ts'
import { distance, placeOf, type EarthPoint } from '../../../schemas/geo/earth-point.ts'
import type { RecordPages } from './export-format.ts'

/** A record, and whether a gap of the track lies before it. */
export type Placed = { readonly record: PositionRecord; readonly isAfterGap: boolean }

type Located = {
  readonly timestamp: number
  readonly place: EarthPoint
  readonly record: PositionRecord
}

/**
 * The records of pages, in either order, each with whether it follows a gap: exactly where a track has one that is
 * not thinned out. A single record that leaps out and is back makes none there, so it makes none here.
 */
export async function* withGaps(
  pages: RecordPages,
  gapMs: number,
): AsyncGenerator<readonly Placed[], void> {
  const afterGap = new Set<PositionRecord>()
  const waiting: PositionRecord[] = []
  let last: Located | undefined
  const leaps = new LeapFilter<Located>((next) => {
    if (last !== undefined && isGap(last, next, gapMs)) afterGap.add(next.record)
    last = next
  })
  const take = (end: number) =>
    waiting.splice(0, end).map((record) => ({ record, isAfterGap: afterGap.delete(record) }))

  let direction: 1 | -1 = 1
  for await (const page of pages) {
    const [first, second] = [waiting[0] ?? page[0], page.at(-1)]
    if (first !== undefined && second !== undefined && second.timestamp < first.timestamp) {
      direction = -1
    }
    for (const record of page) {
      const { timestamp, latitude, longitude } = record
      waiting.push(record)
      leaps.add({ timestamp: direction * timestamp, place: placeOf(latitude, longitude), record })
    }
    yield take(leaps.held === undefined ? waiting.length : waiting.length - 1)
  }
  leaps.end()
  yield take(waiting.length)
}

function isGap(from: Located, to: Located, gapMs: number): boolean {
  const ms = to.timestamp - from.timestamp
  return ms > 0 && (ms > gapMs || isLeap(distance(from.place, to.place), ms))
}
