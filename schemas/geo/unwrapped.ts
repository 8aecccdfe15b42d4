import type { PolygonRing } from '../definitions/geofence.ts'

/** The longitude, whole turns away if that is nearer to another: at most 180° from it. */
export function longitudeNear(other: number, longitude: number): number {
  return longitude + Math.round((other - longitude) / 360) * 360
}

/** A ring whose longitudes continue beyond ±180° instead of jumping at the 180th meridian. */
export function unwrapped(ring: PolygonRing): PolygonRing {
  let before: number | undefined
  return ring.map(([longitude, latitude]) => {
    before = before === undefined ? longitude : longitudeNear(before, longitude)
    return [before, latitude]
  })
}
