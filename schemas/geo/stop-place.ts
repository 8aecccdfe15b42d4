import { projectToSurface, type EarthPoint } from './earth-point.ts'
import { metresApart, type TripRecord } from './open-trip.ts'

/** The place of a stop, to decide whether a device is still there. */
export type StopPlace = {
  readonly middle: EarthPoint
  /** The device's stay since the stop was found; absent once the stop has settled. */
  readonly since?: Stay
  readonly isSettled?: true
}

type Stay = {
  readonly at: number
  readonly low: EarthPoint
  readonly high: EarthPoint
  /** The time-weighted mean up to the last record: each position counts until the next one. */
  readonly mean: EarthPoint
  readonly last: EarthPoint
  readonly until: number
}

type PlaceRules = { readonly stopMs: number; readonly stopMetres: number }

/**
 * Adds a record to the stop; undefined if the device has left it.
 * The first records of a stop may be those of the way there, and their middle beside the place. So
 * a stop settles once: a device that seems to have left, but has stayed around one place for
 * `stopMs` since, is still at the stop. The settled middle is where it was for most of the time:
 * the record by which it leaves moves it little.
 */
export function addToStop(
  { middle, since, isSettled }: StopPlace,
  record: TripRecord,
  rules: PlaceRules,
): StopPlace | undefined {
  const isHere = metresApart(middle, record.place) <= record.radius
  if (isSettled) return isHere ? { middle, isSettled } : undefined
  const { place: at, radius, timestamp } = record
  // An inaccurate record says nothing of where the device rests.
  const stay = radius > rules.stopMetres ? since : extendStay(since, at, timestamp)
  const place = { middle, ...(stay && { since: stay }) }
  return isHere ? place : settleStop(place, timestamp, rules)
}

/**
 * The settled position; undefined if the device has not stayed around one point for long enough
 * since.
 */
export function settleStop(
  { since }: StopPlace,
  until: number,
  { stopMs, stopMetres }: PlaceRules,
): StopPlace | undefined {
  if (since === undefined || until - since.at < stopMs) return undefined
  if (metresApart(since.low, since.high) > stopMetres) return undefined
  const middle = projectToSurface(since.mean)
  return middle && { middle, isSettled: true }
}

function extendStay(stay: Stay | undefined, place: EarthPoint, timestamp: number): Stay {
  const { at, low, high, mean, last, until } = stay ?? stayOf(place, timestamp)
  // The share of the time since `at` that the device was where it was last seen.
  const share = timestamp > at ? (timestamp - until) / (timestamp - at) : 0
  return {
    at,
    low: combine(Math.min, low, place),
    high: combine(Math.max, high, place),
    mean: combine((a, b) => a + (b - a) * share, mean, last),
    last: place,
    until: timestamp,
  }
}

function stayOf(place: EarthPoint, at: number): Stay {
  return { at, low: place, high: place, mean: place, last: place, until: at }
}

function combine(of: (a: number, b: number) => number, a: EarthPoint, b: EarthPoint): EarthPoint {
  return { x: of(a.x, b.x), y: of(a.y, b.y), z: of(a.z, b.z) }
}
