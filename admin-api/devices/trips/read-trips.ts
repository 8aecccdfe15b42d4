import { endOfTurn } from '../../../runtime/end-of-turn.ts'
import type { TrackStep } from '../../../schemas/read-models.ts'
import type { Store } from '../../../store/store.ts'
import { READ_AT_ONCE } from '../track/read-track.ts'
import { TripFinder, type StopRules, type TripOrStop } from './trip-finder.ts'

const HOUR_MS = 60 * 60_000

/** How far before a range reading begins: further, where an item has begun earlier. */
const LOOKING_BACK_MS = [2 * HOUR_MS, 12 * HOUR_MS, 72 * HOUR_MS, 31 * 24 * HOUR_MS]
const LOOKING_ON_MS = 31 * 24 * HOUR_MS

/**
 * The trips and stops of a device that begin in the range, or reach into it, in the order of time.
 * Those at its edges are whole, so reading begins before the range and ends after it, by up to 31
 * days. Ends early when `isWanted` returns false.
 */
export async function readTrips(
  query: TripQuery,
  { store, isWanted }: { store: Pick<Store, 'pageTrack'>; isWanted: () => boolean },
): Promise<TripOrStop[]> {
  for (const backMs of LOOKING_BACK_MS) {
    const mayBeUncertain = backMs === LOOKING_BACK_MS.at(-1)
    const items = await readFrom(query.from - backMs, mayBeUncertain, query, { store, isWanted })
    if (items !== undefined) return items
  }
  return []
}

export type TripQuery = StopRules & {
  readonly accountId: string
  readonly deviceId: string
  readonly from: number
  readonly to: number
}

/** Undefined if items of the range could be others had reading begun earlier. */
async function readFrom(
  start: number,
  mayBeUncertain: boolean,
  { accountId, deviceId, from, to, ...rules }: TripQuery,
  { store, isWanted }: { store: Pick<Store, 'pageTrack'>; isWanted: () => boolean },
): Promise<TripOrStop[] | undefined> {
  const items: TripOrStop[] = []
  const finder = new TripFinder(rules, (item) => {
    if (isWithin(item, { from, to })) items.push(item)
  })
  const range = { accountId, deviceId, from: start, to: to + LOOKING_ON_MS, limit: READ_AT_ONCE }
  let isCertain = mayBeUncertain
  let last: TrackStep | undefined
  for (;;) {
    const after = last && { timestamp: last[0], recordId: last[4] }
    const page = await store.pageTrack({ ...range, ...(after && { after }) })
    for (const step of page) {
      isCertain ||= step[0] >= from && finder.isCertain
      if (step[0] >= from && !isCertain) return undefined
      if (step[0] >= to && finder.foundUntil >= to) return items
      finder.add(step)
    }
    last = page.at(-1)
    if (last === undefined || page.length < READ_AT_ONCE || !isWanted()) break
    // Otherwise one long range would keep all other requests waiting until the end.
    await endOfTurn()
  }
  finder.end()
  return items
}

/** An item that only touches the range belongs to its neighbour. */
function isWithin(item: TripOrStop, { from, to }: { from: number; to: number }): boolean {
  return item.from < to && (item.from >= from || item.to > from)
}
