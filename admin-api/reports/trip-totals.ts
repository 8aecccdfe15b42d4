import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import { STOPPED } from '../../schemas/definitions/device-rule.ts'
import type { TripOrStop } from '../../schemas/geo/trip-finder.ts'
import type { Store } from '../../store/store.ts'
import type { HistoryTurns } from '../devices/history-turns.ts'
import { readTrips, type TripsPage } from '../devices/trips/read-trips.ts'
import { isoTime } from '../http/views.ts'
import { addAt, type TotalsByDay, type ReportDay } from './report-days.ts'

const KEPT_BYTES = 32 * 1024 * 1024
const BYTES_EACH = 600
const BYTES_PER_DAY = 250

const DAY_MS = 24 * 60 * 60_000
/** Timestamps may be a day ahead of the receipt, by which retention removes records. */
const NEAR_RETENTION_MS = 2 * DAY_MS

type Held = {
  readonly totals: TotalsByDay
  readonly read: NonNullable<TripsPage['read']>
  readonly erasedAt: number | undefined
}

/** Returns the totals of a device's trips and stops on successive days. */
export type TripTotalsOf = (query: {
  readonly accountId: string
  readonly deviceId: string
  readonly days: readonly ReportDay[]
  /** Checked while reading: if it returns false, reading stops and the result is incomplete. */
  readonly isWanted: () => boolean
}) => Promise<TotalsByDay>

/**
 * Totals stay in memory as long as the records that they were computed from are the same: records
 * never change, so a different number reveals late records, and `erasedAt` an erasure. Totals near
 * the end of the retention are never reused.
 */
export function tripTotals(deps: {
  readonly store: Pick<Store, 'pageTrack' | 'countPositions' | 'erasuresOf' | 'retentionDays'>
  readonly turns: HistoryTurns
  readonly clock: Clock
}): TripTotalsOf {
  const { store, turns, clock } = deps
  const known = new LRUCache<string, Held>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ totals }, key) => BYTES_EACH + 2 * key.length + BYTES_PER_DAY * totals.size,
  })

  return async ({ days, isWanted, ...device }) => {
    const { accountId, deviceId } = device
    // Read before the records, because an erasure removes them.
    const erasures = await store.erasuresOf({ accountId, deviceIds: [deviceId] })
    const erasedAt = erasures.get(deviceId)?.erasedAt
    const [from, to] = [days[0]?.from ?? 0, days.at(-1)?.to ?? 0]
    const key = JSON.stringify([accountId, deviceId, to, ...days.map((day) => day.from)])
    const held = known.get(key)
    const oldest = clock.now() - ((await store.retentionDays()) ?? Infinity) * DAY_MS
    if (held?.erasedAt === erasedAt && held !== undefined) {
      const { read } = held
      const query = { ...device, bounds: [read.from, read.to] }
      const isKept = read.from - NEAR_RETENTION_MS >= oldest
      if (isKept && (await store.countPositions(query))[0] === read.records) return held.totals
    }
    const totals: TotalsByDay = new Map()
    const onItem = (item: TripOrStop) => addAt(totals, days, item.from, totalsOfItem(item))
    const query = { ...device, from, to, ...STOPPED, limit: 0, onItem }
    const { read } = await turns.run(() => readTrips(query, { store, isWanted }), accountId)
    if (read !== undefined) known.set(key, { totals, read, erasedAt })
    return totals
  }
}

function totalsOfItem(item: TripOrStop) {
  if (item.kind === 'stop') return { stops: 1 }
  const { from, to, distanceMetres, maxSpeed } = item
  const [firstStart, lastEnd] = [isoTime(from), isoTime(to)]
  const drivingSeconds = (to - from) / 1_000
  return { trips: 1, distanceMetres, drivingSeconds, maxSpeed, firstStart, lastEnd }
}
