import type { TimeSpan } from '../../schemas/geo/track-totals.ts'
import type { TripOrStop } from '../../schemas/geo/trip-finder.ts'

/**
 * What a device did in a period. Trips and stops count, whole, in the period in which they begin, so
 * days add up to weeks and months, and agree with the list of trips.
 */
export type ReportTotals = {
  readonly trips: number
  readonly distanceMetres: number
  /** From the start of each trip to its end. */
  readonly drivingMs: number
  readonly stops: number
  /** In m/s; null if no trip has one. */
  readonly maxSpeed: number | null
  /** When the first trip began and the last one ended. */
  readonly firstStart: number | null
  readonly lastEnd: number | null
  /** Rules raised. */
  readonly raised: number
  /** Entries into geofences. */
  readonly visits: number
}

export const NO_TOTALS: ReportTotals = {
  trips: 0,
  distanceMetres: 0,
  drivingMs: 0,
  stops: 0,
  maxSpeed: null,
  firstStart: null,
  lastEnd: null,
  raised: 0,
  visits: 0,
}

export function addTotals(a: ReportTotals, b: ReportTotals): ReportTotals {
  return {
    trips: a.trips + b.trips,
    distanceMetres: a.distanceMetres + b.distanceMetres,
    drivingMs: a.drivingMs + b.drivingMs,
    stops: a.stops + b.stops,
    maxSpeed: greater(a.maxSpeed, b.maxSpeed),
    firstStart:
      a.firstStart === null ? b.firstStart : Math.min(a.firstStart, b.firstStart ?? Infinity),
    lastEnd: greater(a.lastEnd, b.lastEnd),
    raised: a.raised + b.raised,
    visits: a.visits + b.visits,
  }
}

export function totalsOfItem(item: TripOrStop): ReportTotals {
  if (item.kind === 'stop') return { ...NO_TOTALS, stops: 1 }
  const { from, to, distanceMetres, maxSpeed } = item
  const drivingMs = to - from
  return {
    ...NO_TOTALS,
    trips: 1,
    distanceMetres,
    drivingMs,
    maxSpeed,
    firstStart: from,
    lastEnd: to,
  }
}

/** The totals of each day on which something happened, by the day's index. */
export class TotalsByDay {
  readonly days = new Map<number, ReportTotals>()
  readonly #spans: readonly TimeSpan[]

  /** @param spans the days, one after the other. */
  constructor(spans: readonly TimeSpan[]) {
    this.#spans = spans
  }

  add(item: TripOrStop): void {
    this.addAt(item.from, totalsOfItem(item))
  }

  /** Ignored if no day contains the time. */
  addAt(at: number, totals: ReportTotals): void {
    const day = this.#spans.findLastIndex(({ from }) => from <= at)
    const span = this.#spans[day]
    if (span === undefined || at >= span.to) return
    this.days.set(day, addTotals(this.days.get(day) ?? NO_TOTALS, totals))
  }
}

function greater(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b)
}
