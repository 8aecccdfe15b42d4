import { endOfTurn } from '../../../runtime/end-of-turn.ts'
import { SILENCE } from '../../../schemas/liveness.ts'
import type { PositionRecord } from '../../../schemas/read-models.ts'
import type { Store } from '../../../store/store.ts'
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
  { store, isWanted }: { store: Pick<Store, 'pagePositions'>; isWanted: () => boolean },
): Promise<{ readonly thinned: ThinnedTrack; readonly totals: TrackTotals }> {
  let page = await read()
  const { intervals, leastMs } = SILENCE.idle
  const usualMs = (expectedIntervalSeconds ?? 0) * 1_000 || usualInterval(page)
  const gapMs = Math.max(intervals * usualMs, leastMs)
  const thinned = new ThinnedTrack({ limit: points, gapMs })
  const totals = new TrackTotals({ gapMs })
  for (;;) {
    for (const record of page) {
      thinned.add(record)
      totals.add(record)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < READ_AT_ONCE || !isWanted()) return { thinned, totals }
    // Otherwise one long track would keep all others waiting until the end.
    await endOfTurn()
    page = await read(last)
  }

  function read(after?: PositionRecord): Promise<PositionRecord[]> {
    return store.pagePositions({
      ...range,
      order: 'asc',
      limit: READ_AT_ONCE,
      ...(after !== undefined && {
        after: { timestamp: after.timestamp, recordId: after.recordId },
      }),
    })
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
function usualInterval(records: readonly PositionRecord[]): number {
  const intervals = records
    .slice(1)
    .map(({ timestamp }, n) => timestamp - (records[n]?.timestamp ?? timestamp))
    .filter((ms) => ms > 0)
    .sort((a, b) => a - b)
  return intervals[intervals.length >> 1] ?? 0
}
