import type { TrackStep } from '../devices/read-models.ts'
import { FARTHEST_METRES } from './distance.ts'
import { length, placeOf, type EarthPoint } from './earth-point.ts'
import type { TimedPlace } from './track-totals.ts'

/** A record as trips and stops are found by it. */
export type TripRecord = TimedPlace & {
  readonly place: EarthPoint
  /** The distance from the middle of a stop up to which the device may be there, in metres. */
  readonly radius: number
}

/**
 * @param stopMetres the least radius; a record is never more exact than its accuracy. An accuracy beyond the
 *   earth's extent is a sender's word for none.
 */
export function tripRecord(
  step: TimedPlace & Pick<TrackStep, 'accuracy'>,
  stopMetres: number,
): TripRecord {
  const { timestamp, latitude, longitude, speed, accuracy } = step
  const isKnown = accuracy !== null && accuracy < FARTHEST_METRES
  const radius = isKnown ? Math.max(stopMetres, accuracy) : stopMetres
  const place = placeOf(latitude, longitude)
  return { timestamp, latitude, longitude, speed, place, radius }
}

/** The straight distance in metres, which differs from that along the surface by millimetres. */
export function metresApart(a: EarthPoint, b: EarthPoint): number {
  return length(a.x - b.x, a.y - b.y, a.z - b.z)
}
