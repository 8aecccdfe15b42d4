/** WGS84 degrees. */
export type Coordinates = { readonly latitude: number; readonly longitude: number }

/** The mean radius of the earth (IUGG); every distance of the service and its console uses it. */
export const EARTH_RADIUS_METRES = 6_371_008.8

/** Half of the earth's circumference: no two points are further apart. */
export const FARTHEST_METRES = Math.PI * EARTH_RADIUS_METRES

/**
 * Metres between two points along the great circle (haversine). For many distances between the same
 * points, `earth-point.ts` needs no sines.
 */
export function metresBetween(a: Coordinates, b: Coordinates): number {
  const north = Math.sin(radians(b.latitude - a.latitude) / 2)
  const east = Math.sin(radians(b.longitude - a.longitude) / 2)
  const chord =
    north * north + Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * east * east
  return 2 * EARTH_RADIUS_METRES * Math.asin(Math.min(1, Math.sqrt(chord)))
}

export function radians(degrees: number): number {
  return (degrees * Math.PI) / 180
}

export function degrees(radians: number): number {
  return (radians * 180) / Math.PI
}
