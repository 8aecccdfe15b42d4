import type { components } from '../api/schema.ts'
import { sortAttributeNames, type DeviceAttributes } from './readings.ts'
import { metresBetween } from '../../schemas/geo/distance.ts'
import { MEASUREMENTS, type Measurement } from '../../schemas/report/report-fields.ts'
import { isPathless } from '../../schemas/geo/leap-filter.ts'
import { rangeQuery } from './span.ts'
import { toMercator } from '../../schemas/geo/mercator.ts'

type ApiTrack = components['schemas']['Track']
type Measured = { readonly [Name in Measurement]: number | undefined }

/**
 * One point of a track, in order of time; its `speed` is reported, or else computed from the
 * previous point.
 */
export type TrackPoint = Measured & {
  readonly at: number
  readonly latitude: number
  readonly longitude: number
  readonly x: number
  readonly y: number
  readonly attributes: DeviceAttributes
  /** Whether the point was recorded elsewhere and imported as history. */
  readonly isImported: boolean
  /**
   * Between the previous point and this one the device was silent, or its path is unknown: a gap.
   * Or it was outside the part of the map that the points cover.
   */
  readonly after: 'silence' | 'gap' | 'outside' | undefined
}

export type Track = {
  readonly points: readonly TrackPoint[]
  readonly total: number
  readonly toleranceMetres: number
  readonly maxSpeed: number | null
}

export function trackOf(api: ApiTrack): Track {
  const column = new Map(api.columns.map((name, index) => [name, index]))
  const value = (row: readonly unknown[], name: string) => row[column.get(name) ?? -1]
  const number = (row: readonly unknown[], name: string) => {
    const found = value(row, name)
    return typeof found === 'number' ? found : undefined
  }
  const gapEnds = new Map(api.gaps.map((gap) => [Date.parse(gap.to), gap]))
  const points: TrackPoint[] = []
  for (const row of api.rows) {
    const at = Date.parse(String(value(row, 'timestamp')))
    const latitude = number(row, 'latitude') ?? 0
    const longitude = number(row, 'longitude') ?? 0
    const before = points.at(-1)
    const measured = Object.fromEntries(
      MEASUREMENTS.map((name) => [name, number(row, name)]),
    ) as Measured
    const ms = at - (before?.at ?? at)
    const metres = before === undefined ? 0 : metresBetween(before, { latitude, longitude })
    const after = ms <= 0 ? undefined : afterGap(gapEnds.get(at), metres, ms)
    const hasPath = after === undefined || after === 'silence'
    const driven = ms > 0 && hasPath ? metres / (ms / 1_000) : undefined
    points.push({
      at,
      attributes: (value(row, 'attributes') ?? {}) as DeviceAttributes,
      isImported: value(row, 'imported') === true,
      latitude,
      longitude,
      ...toMercator(longitude, latitude),
      ...measured,
      speed: measured.speed ?? driven,
      after,
    })
  }
  const { total, toleranceMetres, maxSpeed } = api
  return { points, total, toleranceMetres, maxSpeed }
}

function afterGap(
  gap: ApiTrack['gaps'][number] | undefined,
  metres: number,
  ms: number,
): TrackPoint['after'] {
  if (gap === undefined) return undefined
  if (gap.outside === true) return 'outside'
  return isPathless(metres, ms) ? 'gap' : 'silence'
}

/** The longest range for which the service reads a track, and the default number of points. */
const LONGEST_MS = 400 * 86_400_000
const USUAL_POINTS = 2_000
const LEAST_POINTS = 100

/** The queries for the track of a range of any length, with as many points as for one day. */
export function partsOfTrack({ from, to }: { readonly from: number; readonly to: number }) {
  const count = Math.max(1, Math.ceil((to - from) / LONGEST_MS))
  const points = Math.max(LEAST_POINTS, Math.floor(USUAL_POINTS / count))
  const bound = (n: number) => (n === count ? to : from + n * LONGEST_MS)
  return Array.from({ length: count }, (_, n) => {
    return { ...rangeQuery({ from: bound(n), to: bound(n + 1) }), points }
  })
}

/** Joins tracks of adjoining ranges. */
export function joinTracks(tracks: readonly Track[]): Track {
  const points: TrackPoint[] = []
  for (const track of tracks) {
    const [first, ...others] = track.points
    if (first === undefined) continue
    points.push(afterLast(points.at(-1), first), ...others)
  }
  const speeds = tracks.flatMap(({ maxSpeed }) => maxSpeed ?? [])
  return {
    points,
    total: tracks.reduce((sum, { total }) => sum + total, 0),
    toleranceMetres: Math.max(0, ...tracks.map(({ toleranceMetres }) => toleranceMetres)),
    maxSpeed: speeds.length === 0 ? null : Math.max(...speeds),
  }
}

/** The first point of a track that follows the last point of another. */
function afterLast(before: TrackPoint | undefined, point: TrackPoint): TrackPoint {
  if (before === undefined || point.at <= before.at) return point
  const [metres, ms] = [metresBetween(before, point), point.at - before.at]
  if (isPathless(metres, ms)) return { ...point, after: 'gap' }
  return { ...point, speed: point.speed ?? metres / (ms / 1_000) }
}

/** A point of a track, from a record. */
export function pointOf(record: components['schemas']['LastPosition']): TrackPoint {
  const { timestamp, latitude, longitude, attributes = {}, imported } = record
  return {
    at: Date.parse(timestamp),
    latitude,
    longitude,
    attributes,
    ...toMercator(longitude, latitude),
    ...(Object.fromEntries(MEASUREMENTS.map((name) => [name, record[name]])) as Measured),
    isImported: imported === true,
    after: undefined,
  }
}

const SMOOTHED_MS = 60_000
/** The speed of light: a sum with greater numbers would lose small ones. */
const FASTEST = 299_792_458

/**
 * The speed at each point, averaged over the minute around it: single measurements fluctuate. The
 * average does not cross a silence.
 */
export function smoothSpeeds(points: readonly TrackPoint[]): readonly (number | undefined)[] {
  let first = 0
  let end = 0
  let sum = 0
  let count = 0
  const add = ({ speed }: TrackPoint, sign: 1 | -1) => {
    if (speed === undefined) return
    sum += sign * Math.min(speed, FASTEST)
    count += sign
  }
  return points.map((point, index) => {
    if (point.after !== undefined) [first, end, sum, count] = [index, index, 0, 0]
    for (let next = points[end]; next !== undefined; next = points[end]) {
      if (next.at > point.at + SMOOTHED_MS / 2 || (next.after !== undefined && end > index)) break
      add(next, 1)
      end += 1
    }
    for (let old = points[first]; old !== undefined; old = points[first]) {
      if (old.at >= point.at - SMOOTHED_MS / 2) break
      add(old, -1)
      first += 1
    }
    return count === 0 ? undefined : Math.max(0, sum / count)
  })
}

/** The last point at or before a time, or the first point if the time is before all of them. */
export function pointAt(points: readonly TrackPoint[], at: number): number {
  let low = 0
  let high = points.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((points[middle]?.at ?? Infinity) <= at) low = middle
    else high = middle - 1
  }
  return low
}

/** The names of the attributes that have a number at any of the points, in the order shown. */
export function numericAttributes(points: readonly TrackPoint[]): string[] {
  const names = new Set<string>()
  for (const { attributes } of points) {
    for (const name of Object.keys(attributes)) {
      if (typeof attributes[name] === 'number') names.add(name)
    }
  }
  return sortAttributeNames(names)
}

/** The device's position at a time: between two points, but never within a gap. */
export function positionAlong(
  points: readonly TrackPoint[],
  at: number,
): Pick<TrackPoint, 'x' | 'y' | 'heading' | 'speed'> | undefined {
  const index = pointAt(points, at)
  const here = points[index]
  const next = points[index + 1]
  if (here === undefined) return undefined
  const { heading, speed } = here
  const isKnown = next?.after !== 'gap' && next?.after !== 'outside'
  if (next === undefined || !isKnown || next.at <= here.at || at <= here.at) {
    return { x: here.x, y: here.y, heading, speed }
  }
  const share = Math.min(1, (at - here.at) / (next.at - here.at))
  // The shorter way round, also across 180°.
  const across = ((next.x - here.x + 1.5) % 1) - 0.5
  const x = (((here.x + across * share) % 1) + 1) % 1
  return { x, y: here.y + (next.y - here.y) * share, heading, speed }
}
