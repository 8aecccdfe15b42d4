import { type Coordinates, FARTHEST_METRES } from './distance.ts'
import { computeDirections, type EarthPoint, length, earthPointOf } from './earth-point.ts'
import { TrackTotals, type TimedPlace, type TimeSpan } from './track-totals.ts'
import type { TrackStep } from '../devices/read-models.ts'

export type FoundTrip = {
  readonly kind: 'trip'
  readonly from: number
  readonly to: number
  readonly start: Coordinates
  readonly end: Coordinates
  readonly distanceMetres: number
  readonly movingMs: number
  readonly maxSpeed: number | null
  readonly records: number
}

/** A trip that has not ended; its totals are those of a track from its first record to its last. */
export class OpenTrip {
  last: TripRecord
  readonly first: TripRecord
  readonly #totals: TrackTotals
  /** To the east and to the north, the highest lower and the lowest upper edge of all records. */
  readonly #edges: readonly { readonly axis: EarthPoint; lower: number; upper: number }[]

  /** @param span the time for which totals are also computed. */
  constructor(first: TripRecord, span?: TimeSpan) {
    this.#totals = new TrackTotals(span)
    this.first = first
    this.last = first
    const axes = computeDirections(first.place)
    this.#edges = axes.map((axis) => ({ axis, lower: -Infinity, upper: Infinity }))
    this.add(first)
  }

  add(record: TripRecord): void {
    this.last = record
    this.#reach(record)
    this.#totals.add(record, record.place)
  }

  /** The distance and the moving time within the span. */
  get inSpan(): TrackTotals['inSpan'] {
    return this.#totals.inSpan
  }

  /** False while the device may have stayed in one area all the time. */
  get hasMoved(): boolean {
    return !this.#edges.every(({ lower, upper }) => lower <= upper)
  }

  /** @param records the records that belong to the trip, not to a stop at its ends. */
  end(records: number): FoundTrip {
    const { first, last } = this
    const { distanceMetres, movingMs, maxSpeed } = this.#totals
    return {
      kind: 'trip',
      from: first.timestamp,
      to: last.timestamp,
      start: coordinates(first),
      end: coordinates(last),
      distanceMetres,
      movingMs,
      maxSpeed,
      records,
    }
  }

  #reach({ place, radius }: TripRecord): void {
    for (const edge of this.#edges) {
      const { axis } = edge
      const along = place.x * axis.x + place.y * axis.y + place.z * axis.z
      edge.lower = Math.max(edge.lower, along - radius)
      edge.upper = Math.min(edge.upper, along + radius)
    }
  }
}

function coordinates({ latitude, longitude }: Coordinates): Coordinates {
  return { latitude, longitude }
}

/** A record in the form used for finding trips and stops. */
export type TripRecord = TimedPlace & {
  readonly place: EarthPoint
  /** The distance in metres from a stop's centre within which the device may still be there. */
  readonly radius: number
}

/**
 * @param stopMetres the minimum radius; a record is never more accurate than its accuracy. Senders
 * write an accuracy beyond the earth's extent for none.
 */
export function tripRecord(
  step: TimedPlace & Pick<TrackStep, 'accuracy'>,
  stopMetres: number,
): TripRecord {
  const { timestamp, latitude, longitude, speed, accuracy } = step
  const isKnown = accuracy !== null && accuracy < FARTHEST_METRES
  const radius = isKnown ? Math.max(stopMetres, accuracy) : stopMetres
  const place = earthPointOf(latitude, longitude)
  return { timestamp, latitude, longitude, speed, place, radius }
}

/**
 * The straight distance in metres, which differs from the distance along the surface by
 * millimetres.
 */
export function metresApart(a: EarthPoint, b: EarthPoint): number {
  return length(a.x - b.x, a.y - b.y, a.z - b.z)
}
