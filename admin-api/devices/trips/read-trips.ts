import { endOfTurn } from '../../../runtime/end-of-turn.ts'
import type { TrackStep } from '../../../schemas/devices/read-models.ts'
import type { TimeSpan, TrackTotals } from '../../../schemas/geo/track-totals.ts'
import type { Store } from '../../../store/store.ts'
import { READ_AT_ONCE } from '../track/read-track.ts'
import { TripFinder, type StopRules, type TripOrStop } from '../../../schemas/geo/trip-finder.ts'

const HOUR_MS = 60 * 60_000

/** How far before a range reading starts; further if an item started earlier. */
const LOOKING_BACK_MS = [2 * HOUR_MS, 12 * HOUR_MS, 72 * HOUR_MS]
const LONGEST_BACK_MS = 31 * 24 * HOUR_MS
const LOOKING_ON_MS = 31 * 24 * HOUR_MS

/**
 * A page of the trips and stops of a device that start in the range, or reach into it, in order of
 * time. Items at its edges are returned whole, so reading starts before the range and ends after
 * it, by up to 31 days. The first page is read to the end of the range, for the totals, but stores
 * no more items than other pages. Ends early when `isWanted` returns false.
 */
export async function readTrips(query: TripQuery, deps: Reading): Promise<TripsPage> {
  const { from, after } = query
  const earliest = Math.max(after?.startedAt ?? -Infinity, from - LONGEST_BACK_MS)
  const begins = after ?? { from, to: from }
  const starts = LOOKING_BACK_MS.map((ms) => begins.from - ms).filter((at) => at > earliest)
  // Where reading for the first page started: from there a later page arrives at the same items,
  // certain or not.
  starts.push(earliest)
  for (const [n, startedAt] of starts.entries()) {
    const certainAt = n === starts.length - 1 ? Infinity : begins.to
    const page = await readFrom({ ...query, startedAt, certainAt }, deps)
    if (page !== undefined) return page
  }
  return { items: [], next: undefined, totals: new TripTotals() }
}

export type TripQuery = StopRules & {
  readonly accountId: string
  readonly deviceId: string
  readonly from: number
  readonly to: number
  readonly limit: number
  /** The end of the previous page. */
  readonly after?: TripPlace
  /** Gets every item of the range, however many a page has. */
  readonly onItem?: (item: TripOrStop) => void
}

/**
 * The last item of a page, its rank (`nth`) among items with the same times (several trips may have
 * no duration), and where reading for the first page started.
 */
export type TripPlace = {
  readonly startedAt: number
  readonly from: number
  readonly to: number
  readonly nth: number
}

export type TripsPage = {
  readonly items: readonly TripOrStop[]
  /** Undefined on the last page. */
  readonly next: TripPlace | undefined
  /** The totals of the part within the range; only on the first page. */
  readonly totals: TripTotals | undefined
  /**
   * The records that decide the result: it stays valid while this span has the same number of
   * records and none was removed. Undefined if reading ended early.
   */
  readonly read?: (TimeSpan & { readonly records: number }) | undefined
}

/**
 * Sums over the part within a range, so that days add up. Trips and stops count where they start.
 */
export class TripTotals {
  trips = 0
  stops = 0
  distanceMetres = 0
  movingSeconds = 0
  stoppedSeconds = 0

  add(item: TripOrStop, { from, to }: TimeSpan, inSpan?: TrackTotals['inSpan']): void {
    const begun = item.from >= from ? 1 : 0
    if (item.kind === 'trip') {
      this.trips += begun
      this.distanceMetres += inSpan?.distanceMetres ?? 0
      this.movingSeconds += (inSpan?.movingMs ?? 0) / 1_000
    } else {
      this.stops += begun
      this.stoppedSeconds += (Math.min(item.to, to) - Math.max(item.from, from)) / 1_000
    }
  }
}

type Reading = { readonly store: Pick<Store, 'pageTrack'>; readonly isWanted: () => boolean }

/** Undefined if items start after `certainAt` could differ had reading started earlier. */
async function readFrom(
  query: TripQuery & { readonly startedAt: number; readonly certainAt: number },
  { store, isWanted }: Reading,
): Promise<TripsPage | undefined> {
  const { accountId, deviceId, from, to, limit, after, startedAt, certainAt } = query
  const items: TripOrStop[] = []
  const totals = new TripTotals()
  const same = { from: NaN, to: NaN, count: 0 }
  const span = { from, to }
  const find = (item: TripOrStop, inSpan?: TrackTotals['inSpan']) => {
    if (item.from !== same.from || item.to !== same.to) {
      Object.assign(same, { from: item.from, to: item.to, count: 0 })
    }
    same.count += 1
    if (!isWithin(item, span) || !isAfter(item, same.count, after)) return
    totals.add(item, span, inSpan)
    query.onItem?.(item)
    if (items.length <= limit) items.push(item)
  }
  const finder = new TripFinder(query, find, span)
  const range = {
    accountId,
    deviceId,
    from: startedAt,
    to: to + LOOKING_ON_MS,
    limit: READ_AT_ONCE,
  }
  const isFull = () => after !== undefined && items.length > limit
  let isCertain = certainAt === Infinity
  let last: TrackStep | undefined
  let read: TripsPage['read']
  let [records, lastAt] = [0, startedAt]
  reading: while (isWanted() && !isFull()) {
    const page = await store.pageTrack({ ...range, ...(last && { after: last }) })
    for (const step of page) {
      isCertain ||= step.timestamp >= certainAt && finder.isCertain
      if (step.timestamp >= certainAt && !isCertain) return undefined
      if (step.timestamp >= to && finder.foundUntil >= to) {
        read = { from: startedAt, to: Math.max(to, lastAt + 1), records }
        break reading
      }
      finder.add(step)
      records += 1
      lastAt = step.timestamp
    }
    last = page.at(-1)
    if (last === undefined || page.length < READ_AT_ONCE) {
      finder.end()
      read = { from: startedAt, to: range.to, records }
      break
    }
    // Otherwise one long range would block all other requests until it ends.
    await endOfTurn()
  }
  const page = items.slice(0, limit)
  const end = items.length > limit ? page.at(-1) : undefined
  return {
    items: page,
    next: end && { startedAt: after?.startedAt ?? startedAt, ...placeOfLast(page, end, after) },
    totals: after === undefined ? totals : undefined,
    read,
  }
}

/** An item that only touches the range belongs to its neighbour. */
function isWithin(item: TripOrStop, { from, to }: TimeSpan): boolean {
  return item.from < to && (item.from >= from || item.to > from)
}

function placeOfLast(page: readonly TripOrStop[], { from, to }: TripOrStop, after?: TripPlace) {
  const count = page.filter((item) => item.from === from && item.to === to).length
  const isSame = after?.from === from && after.to === to
  return { from, to, nth: count + (isSame ? after.nth : 0) }
}

/** Items follow one another, so one item's end suffices, unless it is also its start. */
function isAfter(item: TripOrStop, nth: number, last: TripPlace | undefined): boolean {
  if (last === undefined) return true
  if (item.from === last.from && item.to === last.to) return nth > last.nth
  return item.from > last.from ? item.from >= last.to : item.from === last.to && item.to > last.to
}
