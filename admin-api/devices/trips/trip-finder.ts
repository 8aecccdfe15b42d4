import type { TrackStep } from '../../../schemas/read-models.ts'
import { isPathless } from '../../../schemas/unknown-path.ts'
import { distance, type Place } from '../track/place.ts'
import { OpenTrip, type Trip } from './open-trip.ts'
import { StopWindow } from './stop-window.ts'
import { metresApart, tripRecord, type TripRecord } from './trip-record.ts'

export type Stop = {
  readonly kind: 'stop'
  readonly from: number
  readonly to: number
  /** The place around which all its records are. */
  readonly middle: Place
  readonly records: number
}

export type TripOrStop = Trip | Stop

export type StopRules = {
  readonly stopMs: number
  readonly stopMetres: number
}

/**
 * More records at one place are a stop, however short: the window is kept in memory. A day at one
 * record a second is fewer.
 */
const MOST_IN_WINDOW = 90_000

type OpenStop = Omit<Stop, 'to'> & { readonly last: TripRecord; readonly isCertain: boolean }

/**
 * Divides a device's records, added in the order of time, into trips and stops.
 *
 * A stop begins where the latest records have stayed around one place for `stopMs`. Its middle is
 * the middle of those records, and it goes on while the device is within `stopMetres` of the middle,
 * or within the record's accuracy. A trip goes from one stop's last record to the next stop's first;
 * where the path is unknown it ends, and another begins.
 */
export class TripFinder {
  readonly #rules: StopRules
  readonly #found: (item: TripOrStop) => void
  readonly #window = new StopWindow()
  #stop: OpenStop | undefined
  #trip: { readonly open: OpenTrip; records: number; readonly isCertain: boolean } | undefined
  /** The result is the same as if reading had begun earlier. */
  #isCertain = false
  /** The record, by its place, that was the first too far from the window's start. */
  #leftAt: number | undefined

  constructor(rules: StopRules, found: (item: TripOrStop) => void) {
    this.#rules = rules
    this.#found = found
  }

  add(step: TrackStep): void {
    const record = tripRecord(step, this.#rules.stopMetres)
    if (this.#stop !== undefined) {
      if (metresApart(this.#stop.middle, record.place) <= record.radius) {
        this.#stop = { ...this.#stop, last: record, records: this.#stop.records + 1 }
        return
      }
      this.#endStop(this.#stop)
    }
    this.#search(record)
  }

  /** There are no more records. */
  end(): void {
    if (this.#stop !== undefined) this.#endStop(this.#stop)
    while (this.#window.length > 0) this.#travel(this.#window.shift())
    this.#endTrip()
  }

  /** All items that begin before this time have been found. */
  get foundUntil(): number {
    const open = this.#stop?.from ?? this.#trip?.open.first.time
    if (open !== undefined) return open
    return this.#window.length === 0 ? Infinity : this.#window.firstTime
  }

  /** Whether the open item, and all that follow, are the same as if reading had begun earlier. */
  get isCertain(): boolean {
    return this.#isCertain && (this.#stop ?? this.#trip ?? { isCertain: true }).isCertain
  }

  #search(record: TripRecord): void {
    const window = this.#window
    const place = window.end
    window.add(record)
    while (window.isTooWide) {
      this.#leftAt ??= place
      this.#travel(window.shift())
    }
    while (record.time - window.firstTime >= this.#rules.stopMs || window.length > MOST_IN_WINDOW) {
      this.#leftAt = undefined
      const outlierAt = window.outlierAt
      if (outlierAt === 0) {
        this.#beginStop()
        return
      }
      for (let left = outlierAt; left > 0; left -= 1) this.#travel(window.shift())
    }
    // Since `leftAt` nothing stood still long enough for a stop, so none that began before can be
    // open, and the window holds no record that one could have kept.
    if (this.#leftAt !== undefined && window.start >= this.#leftAt) this.#isCertain = true
  }

  #beginStop(): void {
    const { middle, firstRecord: first, lastRecord: last, length: records } = this.#window
    this.#window.clear()
    if (first === undefined || last === undefined) return
    if (this.#trip !== undefined && !isBroken(this.#trip.open.last, first)) {
      this.#trip.open.add(first)
    }
    this.#endTrip()
    this.#stop = {
      ...{ kind: 'stop', from: first.time, middle, records, last },
      isCertain: this.#isCertain,
    }
  }

  #endStop({ last, isCertain, ...stop }: OpenStop): void {
    this.#found({ ...stop, to: last.time })
    this.#stop = undefined
    this.#trip = { open: new OpenTrip(last), records: 0, isCertain }
  }

  /** Adds a record that belongs to no stop. */
  #travel(record: TripRecord): void {
    if (this.#trip !== undefined && isBroken(this.#trip.open.last, record)) this.#endTrip()
    if (this.#trip === undefined) {
      const isCertain = this.#isCertain
      this.#trip = { open: new OpenTrip(record), records: 1, isCertain }
      return
    }
    this.#trip.open.add(record)
    this.#trip.records += 1
  }

  #endTrip(): void {
    const found = this.#trip?.open.end(this.#trip.records)
    this.#trip = undefined
    if (found !== undefined) this.#found(found)
  }
}

/** Whether nobody knows how the device came from one record to the next. */
function isBroken(from: TripRecord, to: TripRecord): boolean {
  return isPathless(distance(from.place, to.place), to.time - from.time)
}
