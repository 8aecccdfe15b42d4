import { endOfTurn } from '../../../runtime/end-of-turn.ts'
import type { TrackPoint, TrackStep } from '../../../schemas/read-models.ts'
import type { Store } from '../../../store/store.ts'
import { placeOf } from './place.ts'
import { gapAfterMs } from './silence.ts'
import { ThinnedTrack } from './thinned-track.ts'
import { TrackTotals } from './track-totals.ts'

/** Records held in memory at a time, besides the ones that are shown. */
export const READ_AT_ONCE = 1_000

/** The points read for a track, and the points shown. */
type ReadableStore = Pick<Store, 'pageTrack' | 'findTrackPoints'>

/**
 * Reads a device's track from `from` to `to`, page by page, into totals and at most `points`
 * records. A silence after which a device counts as offline is a gap, by its expected interval or,
 * without one, by the usual interval of the first page; so is every step whose path is unknown.
 * Stops early when `isWanted` returns false.
 *
 * Full records are read only for the points that are shown: for a long track, most of the time goes
 * into values handed over by the database.
 */
export async function readTrack(
  { points, expectedIntervalSeconds, ...range }: TrackQuery,
  { store, isWanted }: { store: ReadableStore; isWanted: () => boolean },
): Promise<ReadTrack> {
  let page = await read()
  const gapMs = gapAfterMs(page, expectedIntervalSeconds)
  const thinned = new ThinnedTrack<TrackStep>({ limit: points, gapMs })
  const totals = new TrackTotals()
  for (;;) {
    for (const step of page) {
      const place = placeOf(step[1], step[2])
      thinned.add(step, step[0], place, totals.add(step, place))
    }
    const last = page.at(-1)
    if (last === undefined || page.length < READ_AT_ONCE || !isWanted()) {
      return { thinned, totals, points: await shown(thinned.records()) }
    }
    // Otherwise one long track would keep all other requests waiting until the end.
    await endOfTurn()
    page = await read(last)
  }

  function read(last?: TrackStep): Promise<TrackStep[]> {
    const after = last && { timestamp: last[0], recordId: last[4] }
    return store.pageTrack({ ...range, limit: READ_AT_ONCE, ...(after && { after }) })
  }

  async function shown(steps: readonly TrackStep[]): Promise<TrackPoint[]> {
    const { accountId, deviceId } = range
    const points: TrackPoint[] = []
    for (let at = 0; at < steps.length; at += READ_AT_ONCE) {
      await endOfTurn()
      const recordIds = steps.slice(at, at + READ_AT_ONCE).map((step) => step[4])
      points.push(...(await store.findTrackPoints({ accountId, deviceId, recordIds })))
    }
    return points
  }
}

export type ReadTrack = {
  readonly thinned: ThinnedTrack<TrackStep>
  readonly totals: TrackTotals
  /** The points shown, without those that were erased meanwhile. */
  readonly points: readonly TrackPoint[]
}

export type TrackQuery = {
  readonly accountId: string
  readonly deviceId: string
  readonly from?: number
  readonly to?: number
  readonly points: number
  readonly expectedIntervalSeconds?: number | undefined
}
