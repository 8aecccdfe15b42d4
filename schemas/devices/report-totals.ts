/**
 * What devices did in a period. A whole trip or stop counts in the period in which it starts: days
 * add up to weeks and months, and agree with the list of trips.
 */
export type ReportTotals = {
  readonly distanceMetres: number
  /** Sum of the trips' durations, from start to end. */
  readonly drivingSeconds: number
  readonly trips: number
  readonly stops: number
  /** Top speed in m/s; null if no trip has a speed. */
  readonly maxSpeed: number | null
  /** ISO 8601: when the first trip began, and the last one ended. */
  readonly firstStart: string | null
  readonly lastEnd: string | null
  /** Rules raised. */
  readonly raised: number
  /** Number of times the device entered a geofence. */
  readonly visits: number
}

export const NO_TOTALS: ReportTotals = {
  distanceMetres: 0,
  drivingSeconds: 0,
  trips: 0,
  stops: 0,
  maxSpeed: null,
  firstStart: null,
  lastEnd: null,
  raised: 0,
  visits: 0,
}

export function addTotals(a: ReportTotals, b: ReportTotals): ReportTotals {
  const isEarlier = b.firstStart !== null && (a.firstStart === null || b.firstStart < a.firstStart)
  return {
    distanceMetres: a.distanceMetres + b.distanceMetres,
    drivingSeconds: a.drivingSeconds + b.drivingSeconds,
    trips: a.trips + b.trips,
    stops: a.stops + b.stops,
    maxSpeed: greater(a.maxSpeed, b.maxSpeed),
    firstStart: isEarlier ? b.firstStart : a.firstStart,
    lastEnd: greater(a.lastEnd, b.lastEnd),
    raised: a.raised + b.raised,
    visits: a.visits + b.visits,
  }
}

function greater<T extends string | number>(a: T | null, b: T | null): T | null {
  return a === null || (b !== null && b > a) ? b : a
}
