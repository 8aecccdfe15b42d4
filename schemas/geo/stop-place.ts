import { atSurface, type EarthPoint } from './earth-point.ts'
import { metresApart, type TripRecord } from './open-trip.ts'

/** The place by which it is decided whether a device is still at a stop. */
export type StopPlace = {
  readonly middle: EarthPoint
  /** The extent of the records since the stop was found, until it has settled. */
  readonly since?: { readonly at: number; readonly low: EarthPoint; readonly high: EarthPoint }
  readonly isSettled?: true
}

type PlaceRules = { readonly stopMs: number; readonly stopMetres: number }

/**
 * The place of the stop with one more record; undefined if the device has left it.
 *
 * The first records of a stop may be those of the way there, and their middle beside the place. So a stop settles once:
 * a device that seems to have left, but has stayed around one place for `stopMs` since, is still at the stop.
 */
export function stayAt(
  { middle, since, isSettled }: StopPlace,
  record: TripRecord,
  rules: PlaceRules,
): StopPlace | undefined {
  const isHere = metresApart(middle, record.place) <= record.radius
  if (isSettled) return isHere ? { middle, isSettled } : undefined
  const { place: at, radius, timestamp } = record
  // An inaccurate record says nothing of an extent.
  const extent =
    radius > rules.stopMetres
      ? since
      : {
          at: since?.at ?? timestamp,
          low: combine(Math.min, since?.low ?? at, at),
          high: combine(Math.max, since?.high ?? at, at),
        }
  const place = { middle, ...(extent && { since: extent }) }
  return isHere ? place : settleStop(place, timestamp, rules)
}

/** The settled place; undefined if the device has not stayed around one place for long enough since. */
export function settleStop(
  { since }: StopPlace,
  until: number,
  { stopMs, stopMetres }: PlaceRules,
): StopPlace | undefined {
  if (since === undefined || until - since.at < stopMs) return undefined
  const { low, high } = since
  if (metresApart(low, high) > stopMetres) return undefined
  const middle = atSurface(combine((a, b) => (a + b) / 2, low, high))
  return middle && { middle, isSettled: true }
}

function combine(of: (a: number, b: number) => number, a: EarthPoint, b: EarthPoint): EarthPoint {
  return { x: of(a.x, b.x), y: of(a.y, b.y), z: of(a.z, b.z) }
}
