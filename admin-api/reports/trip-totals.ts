import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import { STOPPED } from '../../schemas/definitions/device-rule.ts'
import type { TimeSpan } from '../../schemas/geo/track-totals.ts'
import type { Store } from '../../store/store.ts'
import type { HistoryTurns } from '../devices/history-turns.ts'
import { sumTrips } from '../devices/trips/read-trips.ts'
import { spanOf, type ReportDay } from './report-days.ts'
import { TotalsByDay } from './report-totals.ts'

const KEPT_BYTES = 32 * 1024 * 1024
const BYTES_EACH = 600
const BYTES_PER_DAY = 250

const DAY_MS = 24 * 60 * 60_000
/** Timestamps may be a day ahead of the receipt, by which retention removes records. */
const NEAR_RETENTION_MS = 2 * DAY_MS

type Held = {
  readonly days: TotalsByDay['days']
  readonly read: TimeSpan & { readonly records: number }
  readonly erasedAt: number | undefined
}

type Deps = {
  readonly store: Pick<Store, 'pageTrack' | 'countPositions'>
  readonly turns: HistoryTurns
  readonly clock: Clock
}

/**
 * The totals of devices' trips and stops, by day. They stay in memory as long as the records that
 * they were computed from are the same: records never change, so their number tells of late ones,
 * `erasedAt` of an erasure, and near the end of their retention nothing is trusted.
 */
export class TripTotalsOfDays {
  readonly #deps: Deps
  readonly #held = new LRUCache<string, Held>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ days }, key) => BYTES_EACH + 2 * key.length + BYTES_PER_DAY * days.size,
  })

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * @param days successive days; the result has the index of each with a trip or stop.
   * @param isWanted the result is incomplete once it returns false.
   */
  async of(
    { accountId, deviceId, days, erasedAt, retentionDays }: DaysQuery,
    isWanted: () => boolean,
  ): Promise<TotalsByDay['days']> {
    const { store, turns } = this.#deps
    const starts = days.map(({ from }) => from)
    const span = spanOf(days)
    const device = { accountId, deviceId }
    const key = JSON.stringify([accountId, deviceId, ...starts, span.to])
    const held = this.#held.get(key)
    if (
      held?.erasedAt === erasedAt &&
      held !== undefined &&
      !this.#mayExpire(held, retentionDays)
    ) {
      const { from, to, records } = held.read
      const counts = await store.countPositions({ ...device, bounds: [from, to] })
      if (counts[0] === records) return held.days
    }
    const query = { ...device, ...span, ...STOPPED, limit: 0 }
    const newSums = () => new TotalsByDay(days)
    const { sums, read } = await turns.run(
      () => sumTrips({ ...query, newSums }, { store, isWanted }),
      accountId,
    )
    if (read !== undefined) this.#held.set(key, { days: sums.days, read, erasedAt })
    return sums.days
  }

  #mayExpire({ read }: Held, retentionDays: number | undefined): boolean {
    const oldest = this.#deps.clock.now() - (retentionDays ?? Infinity) * DAY_MS
    return read.from - NEAR_RETENTION_MS < oldest
  }
}

type DaysQuery = {
  readonly accountId: string
  readonly deviceId: string
  readonly days: readonly ReportDay[]
  /** When the device was last erased, read before. */
  readonly erasedAt: number | undefined
  readonly retentionDays: number | undefined
}
