import type { TrackStep } from '../devices/read-models.ts'
import { isPathless, LeapFilter } from './leap-filter.ts'
import { distance, type EarthPoint } from './earth-point.ts'
import { OpenTrip, type FoundTrip, metresApart, tripRecord, type TripRecord } from './open-trip.ts'
import { settleStop, addToStop, type StopPlace } from './stop-place.ts'
import { StopWindow } from './stop-window.ts'
import type { TimeSpan, TrackTotals } from './track-totals.ts'

export type Stop = {
  readonly kind: 'stop'
  readonly from: number
  readonly to: number
  /** The point around which its records lie. */
  readonly middle: EarthPoint
  readonly records: number
}

export type TripOrStop = FoundTrip | Stop

export type StopRules = {
  readonly stopMs: number
  readonly stopMetres: number
}

/** Takes an item, and the totals of a trip within the requested span. */
type Found = (item: TripOrStop, inSpan?: TrackTotals['inSpan']) => void

/**
 * More records in one area are a stop, however short: the window is in memory. A day at one record
 * a second has fewer.
 */
const MOST_IN_WINDOW = 90_000

/** `around`: the area that decides how long the stop lasts. */
type OpenStop = Omit<Stop, 'to'> & {
  readonly around: StopPlace
  /** The stop that ended where this one starts; the two are merged if this one settles near it. */
  readonly before: EndedStop | undefined
  readonly last: TripRecord
  readonly isCertain: boolean
}

/** An ended stop that may still be merged with the next one. */
type EndedStop = Stop & { readonly isCertain: boolean }

type Piece = {
  readonly open: OpenTrip
  /** Number of the trip's records, excluding those of stops. */
  records: number
  readonly isAtStop: boolean
  readonly isCertain: boolean
}

/**
 * Divides a device's records, added in the order of time, into trips and stops.
 *
 * A stop starts where the latest records have stayed around one point for `stopMs`. Its centre is
 * the centre of these records until it settles, and it lasts while the device is within
 * `stopMetres` of the centre, or within the record's accuracy. A trip goes from one stop's last
 * record to the next stop's first; where the path is unknown it ends, and another starts. Records
 * without movement are not a trip: they belong to the stop before or after them, unless these are
 * further apart. Stops that follow one another within `stopMetres` are one. So between two items
 * nothing is missing unless the path is unknown there.
 */
export class TripFinder {
  readonly #rules: StopRules
  readonly #found: Found
  readonly #span: TimeSpan | undefined
  readonly #leaps = new LeapFilter<TripRecord>((record) => this.#take(record))
  readonly #window = new StopWindow()
  #stop: OpenStop | undefined
  #ended: EndedStop | undefined
  #piece: Piece | undefined
  /** The result is the same as if reading had started earlier. */
  #isCertain = false
  /** Whether the next stop could be one with a stop from before reading started. */
  #mayJoinUnread = true
  /** The index of the record that was the first too far from the window's start. */
  #leftAt: number | undefined

  /** @param span the time for which totals of trips are also computed. */
  constructor(rules: StopRules, found: Found, span?: TimeSpan) {
    this.#rules = rules
    this.#found = found
    this.#span = span
  }

  add(step: TrackStep): void {
    this.#leaps.add(tripRecord(step, this.#rules.stopMetres))
  }

  /** Call when there are no more records. */
  end(): void {
    this.#leaps.end()
    if (this.#stop !== undefined) this.#endStop(this.#stop)
    while (this.#window.length > 0) this.#travel(this.#window.shift())
    this.#endPiece()
    this.#passEnded()
  }

  /** All items that start before this time have been found. */
  get foundUntil(): number {
    const { before = this.#stop } = this.#stop ?? {}
    const open = this.#ended?.from ?? before?.from ?? this.#piece?.open.first.timestamp
    if (open !== undefined) return open
    return this.#window.length > 0
      ? this.#window.firstTime
      : (this.#leaps.held?.timestamp ?? Infinity)
  }

  /** Whether the open item, and all that follow, are the same as if reading had started earlier. */
  get isCertain(): boolean {
    if (!this.#isCertain || this.#ended?.isCertain === false) return false
    if (this.#stop !== undefined) return this.#stop.isCertain
    if (this.#piece?.isCertain === false) return false
    return this.#ended !== undefined || !this.#mayJoinUnread || this.#piece?.open.hasMoved === true
  }

  #take(record: TripRecord): void {
    if (this.#stop !== undefined) {
      const around = addToStop(this.#stop.around, record, this.#rules)
      if (around !== undefined) {
        const stop = this.#settle(this.#stop, around)
        this.#stop = { ...stop, around, last: record, records: stop.records + 1 }
        return
      }
      this.#endStop(this.#stop)
    }
    this.#search(record)
  }

  /** The stop at its settled position, once it has one. */
  #settle(stop: OpenStop, place: StopPlace | undefined): OpenStop {
    if (!place?.isSettled || stop.around.isSettled) return stop
    const { before, records } = stop
    const { middle } = place
    if (before === undefined || !this.#areOne(before.middle, middle)) return { ...stop, middle }
    return { ...stop, ...before, records: records + before.records, before: undefined }
  }

  #search(record: TripRecord): void {
    const window = this.#window
    const place = window.end
    window.add(record)
    while (window.isTooWide) {
      if (this.#leaps.isCertain) this.#leftAt ??= place
      this.#travel(window.shift())
    }
    while (
      record.timestamp - window.firstTime >= this.#rules.stopMs ||
      window.length > MOST_IN_WINDOW
    ) {
      this.#leftAt = undefined
      const outlierAt = window.outlierAt
      if (outlierAt === 0) {
        this.#beginStop()
        return
      }
      for (let left = outlierAt; left > 0; left -= 1) this.#travel(window.shift())
    }
    // Since `leftAt` the device has not stayed long enough for a stop, so none that started earlier
    // can be open, and the window holds no record that one could have retained.
    if (this.#leftAt !== undefined && window.start >= this.#leftAt) this.#isCertain = true
  }

  #beginStop(): void {
    const { middle, firstRecord: first, lastRecord: last, length } = this.#window
    this.#window.clear()
    if (first === undefined || last === undefined) return
    if (this.#piece !== undefined && isBroken(this.#piece.open.last, first)) this.#endPiece()
    const before = this.#endPieceAt(first, middle)
    const ended = this.#ended
    const isKnown = ended === undefined ? !this.#mayJoinUnread : ended.isCertain
    // The window's last record is the first that may belong to the stop.
    const around = addToStop({ middle }, last, this.#rules) ?? { middle }
    const found = { kind: 'stop', middle, around, last } as const
    const from = before?.from ?? first.timestamp
    const records = length + (before?.records ?? 0)
    this.#ended = undefined
    if (ended !== undefined && this.#areOne(ended.middle, middle)) {
      this.#stop = { ...found, ...ended, records: ended.records + records, before: undefined }
      return
    }
    const isCertain = this.#isCertain && isKnown
    this.#stop = { ...found, from, records, isCertain, before: ended }
  }

  #endStop(open: OpenStop): void {
    const settled = settleStop(open.around, open.last.timestamp, this.#rules)
    this.#leave(this.#settle(open, settled))
  }

  #leave({ last, around: _around, before, ...stop }: OpenStop): void {
    this.#ended = before
    this.#passEnded()
    this.#ended = { ...stop, to: last.timestamp }
    this.#stop = undefined
    const { isCertain } = stop
    this.#piece = { open: new OpenTrip(last, this.#span), records: 0, isAtStop: true, isCertain }
  }

  /** Adds a record that belongs to no stop. */
  #travel(record: TripRecord): void {
    if (this.#piece !== undefined && isBroken(this.#piece.open.last, record)) this.#endPiece()
    if (this.#piece === undefined) {
      const isCertain = this.#isCertain
      this.#piece = {
        open: new OpenTrip(record, this.#span),
        records: 1,
        isAtStop: false,
        isCertain,
      }
      return
    }
    this.#piece.open.add(record)
    this.#piece.records += 1
  }

  /**
   * Ends the movement before a stop. Returns the records without movement, which belong to the stop
   * that starts.
   */
  #endPieceAt(
    first: TripRecord,
    middle: EarthPoint,
  ): { from: number; records: number } | undefined {
    const piece = this.#piece
    if (piece === undefined) return undefined
    piece.open.add(first)
    if (piece.isAtStop || piece.open.hasMoved) {
      const isAway = this.#ended === undefined || !this.#areOne(this.#ended.middle, middle)
      this.#endPiece(isAway && isHop(piece.open.first, first))
      return undefined
    }
    this.#piece = undefined
    return { from: piece.open.first.timestamp, records: piece.records }
  }

  #areOne(middle: EarthPoint, other: EarthPoint): boolean {
    return metresApart(middle, other) <= this.#rules.stopMetres
  }

  /**
   * Ends the movement so far: a trip, or, without movement, a part of the stop where it started.
   *
   * @param isTrip it is a trip even if its records alone do not show that it moved.
   */
  #endPiece(isTrip = false): void {
    const piece = this.#piece
    if (piece === undefined) return
    this.#piece = undefined
    const { open, records, isAtStop, isCertain } = piece
    const trip = isTrip || open.hasMoved ? open.end(records) : undefined
    const ended = this.#ended
    if (trip === undefined && isAtStop && ended !== undefined) {
      this.#ended = { ...ended, to: open.last.timestamp, records: ended.records + records }
      return
    }
    // The device was elsewhere, so the stops before and after are two.
    this.#passEnded()
    if (trip !== undefined) this.#found(trip, open.inSpan)
    if (trip !== undefined || isCertain) this.#mayJoinUnread = false
  }

  #passEnded(): void {
    if (this.#ended === undefined) return
    const { from, to, middle, records } = this.#ended
    this.#ended = undefined
    this.#mayJoinUnread = false
    this.#found({ kind: 'stop', from, to, middle, records })
  }
}

/**
 * Whether two points are further apart than the records' inaccuracy: between two stops, that is
 * movement.
 */
function isHop(from: TripRecord, to: TripRecord): boolean {
  return metresApart(from.place, to.place) > Math.max(from.radius, to.radius)
}

/** Whether the path of the device from one record to the next is unknown. */
function isBroken(from: TripRecord, to: TripRecord): boolean {
  return isPathless(distance(from.place, to.place), to.timestamp - from.timestamp)
}
