import { EARTH_RADIUS_METRES as EARTH_RADIUS, type Coordinates } from './distance.ts'

/** A point on the earth's surface, in metres from the earth's centre. */
export type EarthPoint = { readonly x: number; readonly y: number; readonly z: number }

const RADIANS = Math.PI / 180

export function earthPointOf(latitude: number, longitude: number): EarthPoint {
  const [lat, lon] = [latitude * RADIANS, longitude * RADIANS]
  const fromAxis = EARTH_RADIUS * Math.cos(lat)
  return {
    x: fromAxis * Math.cos(lon),
    y: fromAxis * Math.sin(lon),
    z: EARTH_RADIUS * Math.sin(lat),
  }
}

/** The arc tangent is exact at the poles, where rounding may push the sine above 1. */
export function coordinatesOf({ x, y, z }: EarthPoint): Coordinates {
  return {
    latitude: Math.atan2(z, length(x, y, 0)) / RADIANS,
    longitude: Math.atan2(y, x) / RADIANS,
  }
}

/** The point on the surface directly above or below; undefined for the earth's centre. */
export function projectToSurface({ x, y, z }: EarthPoint): EarthPoint | undefined {
  const fromCentre = length(x, y, z)
  // This near to the centre, only rounding would decide the direction.
  if (fromCentre < 1) return undefined
  const scale = EARTH_RADIUS / fromCentre
  return { x: x * scale, y: y * scale, z: z * scale }
}

/** The unit vectors to the east and to the north, one metre each. */
export function computeDirections({
  x,
  y,
  z,
}: EarthPoint): readonly [east: EarthPoint, north: EarthPoint] {
  const longitude = Math.atan2(y, x)
  const [sine, cosine] = [Math.sin(longitude), Math.cos(longitude)]
  const [up, out] = [z / EARTH_RADIUS, length(x, y, 0) / EARTH_RADIUS]
  return [
    { x: -sine, y: cosine, z: 0 },
    { x: -up * cosine, y: -up * sine, z: out },
  ]
}

/** Along the surface, in metres. */
export function distance(a: EarthPoint, b: EarthPoint): number {
  const chord = length(a.x - b.x, a.y - b.y, a.z - b.z)
  return 2 * EARTH_RADIUS * Math.asin(Math.min(1, chord / (2 * EARTH_RADIUS)))
}

/** `Math.hypot` takes many times as long, and no number here comes near its limits. */
export function length(x: number, y: number, z: number): number {
  return Math.sqrt(x * x + y * y + z * z)
}
