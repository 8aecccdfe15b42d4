/**
 * Web Mercator on a square from 0 to 1: west to east, north to south. It does not reach the poles;
 * points beyond its limits are drawn at its edge.
 */
const FARTHEST_LATITUDE = 85.0511287798066

/** The circumference at the equator, in metres. */
export const WORLD_METRES = 40_075_016.685578488

export type MapPoint = { readonly x: number; readonly y: number }

export function toMercator(longitude: number, latitude: number): MapPoint {
  const within = Math.max(-FARTHEST_LATITUDE, Math.min(FARTHEST_LATITUDE, latitude))
  const sine = Math.sin((within * Math.PI) / 180)
  const y = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
  return { x: longitude / 360 + 0.5, y: Math.max(0, Math.min(1, y)) }
}

export function mercatorToDegrees({ x, y }: MapPoint): { longitude: number; latitude: number } {
  const latitude = (360 / Math.PI) * Math.atan(Math.exp((0.5 - y) * 2 * Math.PI)) - 90
  return { longitude: (x - 0.5) * 360, latitude }
}

/** The length of a ground metre on the square, at that y. */
export function metre({ y }: { readonly y: number }): number {
  const { latitude } = mercatorToDegrees({ x: 0, y })
  return 1 / (WORLD_METRES * Math.cos((latitude * Math.PI) / 180))
}
