import { endOfTurn } from '../../../runtime/end-of-turn.ts'
import { SILENCE } from '../../../schemas/liveness.ts'
import type { TrackPoint } from '../../../schemas/read-models.ts'
import type { Store } from '../../../store/store.ts'
import { placeOf } from './place.ts'
import { ThinnedTrack } from './thinned-track.ts'
import { TrackTotals } from './track-totals.ts'

/** Records held in memory at a time, besides those that are shown. */
const READ_AT_ONCE = 1_000

/**
 * Reads a device's track from `from` to `to`, page by page, into totals and at most `points`
 * records. A silence after which a device counts as offline is a gap, by its expected interval or,
 * without one, by the usual interval of the first page. Stops early when `isWanted` says so.
 */
export async function readTrack(
  { points, expectedIntervalSeconds, ...range }: TrackQuery,
  { store, isWanted }: { store: Pick<Store, 'pageTrack'>; isWanted: () => boolean },
): Promise<{ readonly thinned: ThinnedTrack<TrackPoint>; readonly totals: TrackTotals }> {
  let page = await read()
  const { intervals, leastMs } = SILENCE.idle
  const usualMs = (expectedIntervalSeconds ?? 0) * 1_000 || usualInterval(page)
  const gapMs = Math.max(intervals * usualMs, leastMs)
  const thinned = new ThinnedTrack<TrackPoint>({ limit: points, gapMs })
  const totals = new TrackTotals({ gapMs })
  for (;;) {
    for (const point of page) {
      const place = placeOf(point[1], point[2])
      thinned.add(point, point[0], place)
      totals.add(point, place)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < READ_AT_ONCE || !isWanted()) return { thinned, totals }
    // Otherwise one long track would keep all others waiting until the end.
    await endOfTurn()
    page = await read(last)
  }

  function read(last?: TrackPoint): Promise<TrackPoint[]> {
    const after = last && { timestamp: last[0], recordId: last[8] }
    return store.pageTrack({ ...range, limit: READ_AT_ONCE, ...(after && { after }) })
  }
}

export type TrackQuery = {
  readonly accountId: string
  readonly deviceId: string
  readonly from?: number
  readonly to?: number
  readonly points: number
  readonly expectedIntervalSeconds?: number | undefined
}

/** The median of the times between records, in milliseconds. */
function usualInterval(points: readonly TrackPoint[]): number {
  const intervals = points
    .slice(1)
    .map(([timestamp], n) => timestamp - (points[n]?.[0] ?? timestamp))
    .filter((ms) => ms > 0)
    .sort((a, b) => a - b)
  return intervals[intervals.length >> 1] ?? 0
}
