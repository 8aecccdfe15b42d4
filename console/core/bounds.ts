import { ShortestArc } from '../../schemas/geo/bounds.ts'
import { ONE_SPOT_PIXELS, TILE_PIXELS } from './clusters.ts'
import type { MapPoint } from '../../schemas/geo/mercator.ts'

type Box = {
  readonly west: number
  readonly north: number
  readonly east: number
  readonly south: number
}

/**
 * The smallest part of the world, from 0 to 1, that contains all points; across 180° `east` is
 * above 1. Undefined without points.
 */
export function boundsOf(points: Iterable<MapPoint>): Box | undefined {
  const xs = new ShortestArc({ least: 0, greatest: 1 })
  let north = Infinity
  let south = -Infinity
  for (const { x, y } of points) {
    xs.add(x)
    north = Math.min(north, y)
    south = Math.max(south, y)
  }
  if (xs.ends === undefined) return undefined
  const { begin: west, end } = xs.ends
  return { west, north, east: west > end ? end + 1 : end, south }
}

/** Whether zooming in cannot separate the devices. */
export function isOneSpot(
  devices: readonly MapPoint[],
  { maxZoom, pixels = ONE_SPOT_PIXELS }: { readonly maxZoom: number; readonly pixels?: number },
): boolean {
  const box = boundsOf(devices)
  if (box === undefined) return true
  const size = Math.max(box.east - box.west, box.south - box.north)
  return size * TILE_PIXELS * 2 ** maxZoom < pixels
}
