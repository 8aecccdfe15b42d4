import { ONE_SPOT_PIXELS, TILE_PIXELS } from './clusters.ts'
import type { MapPoint } from './mercator.ts'

type Box = {
  readonly west: number
  readonly north: number
  readonly east: number
  readonly south: number
}

/**
 * The smallest part of the world, from 0 to 1, that contains all points; across 180° `east` is
 * above 1. Undefined for no points.
 */
export function boundsOf(points: Iterable<MapPoint>): Box | undefined {
  const xs: number[] = []
  let north = Infinity
  let south = -Infinity
  for (const { x, y } of points) {
    xs.push(x)
    north = Math.min(north, y)
    south = Math.max(south, y)
  }
  if (xs.length === 0) return undefined
  xs.sort((a, b) => a - b)
  const [first = 0] = xs
  const last = xs.at(-1) ?? 0
  let west = first
  let east = last
  let widest = first + 1 - last
  for (let index = 1; index < xs.length; index += 1) {
    const before = xs[index - 1] ?? 0
    const after = xs[index] ?? 0
    if (after - before <= widest) continue
    widest = after - before
    west = after
    east = before + 1
  }
  return { west, north, east, south }
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
