import type { Point } from './mercator.ts'
import { nearMarks } from './near-marks.ts'

/** A tile's edge: the world is this many pixels wide at zoom 0. */
export const TILE_PIXELS = 256

/** A cluster: one device, or devices so near each other that their marks would overlap. */
export type Cluster<D> = {
  /** The mean of the devices' places. */
  readonly x: number
  readonly y: number
  readonly devices: readonly D[]
}

/** At a zoom that separates streets, the devices in a yard are separated too. */
const CLOSE_ZOOM = 15
/** Half the distance at which two devices become one cluster, in pixels, with room for their names. */
const ROOM = 16
const CLOSE_ROOM = 9
/** Between two rings. */
const GAP = 2
const MOST_RADIUS = 26

/** Closer than this devices are one cluster at any zoom. */
export const ONE_SPOT_PIXELS = 2 * CLOSE_ROOM

/** The radius of the ring around a cluster's number, in pixels. */
export function clusterRadius(count: number): number {
  return Math.round(Math.min(MOST_RADIUS, 13 + 5.12 * Math.log10(count)))
}

/**
 * Groups devices by nearness, so that no cluster covers another one's number. Moving the map
 * regroups nothing, and zooming regroups only at whole zoom levels.
 *
 * @param alone is never grouped.
 */
export function clusters<D extends Point>(
  devices: Iterable<D>,
  { zoom, alone }: { readonly zoom: number; readonly alone?: D | undefined },
): Cluster<D>[] {
  const level = Math.max(0, Math.floor(zoom + 1e-6))
  const room = level >= CLOSE_ZOOM ? CLOSE_ROOM : ROOM
  const world = TILE_PIXELS * 2 ** level
  const marks = nearMarks(2 * MOST_RADIUS + GAP)
  const byMark: (Cluster<D> | undefined)[] = []

  function add(cluster: Cluster<D>): void {
    const { length } = cluster.devices
    const radius = length === 1 ? room : clusterRadius(length) + GAP / 2
    byMark[marks.add(cluster.x * world, cluster.y * world, radius)] = cluster
  }

  for (const spot of spots(devices, alone, world / room)) add(spot)
  // A cluster that has grown may overlap others, so it is looked at again, at the end.
  for (let mark = 0; mark < byMark.length; mark += 1) {
    const cluster = byMark[mark]
    const near = cluster && marks.overlapping(mark)
    const other = near === undefined ? undefined : byMark[near]
    if (cluster === undefined || near === undefined || other === undefined) continue
    for (const one of [mark, near]) {
      marks.remove(one)
      byMark[one] = undefined
    }
    add(joined(cluster, other))
  }
  const found = byMark.filter((cluster) => cluster !== undefined)
  // Last, so that it is painted above the other clusters.
  if (alone !== undefined) found.push({ x: alone.x, y: alone.y, devices: [alone] })
  return found
}

/** Devices in one small square of the world are one cluster anyway, and are found quickly. */
function spots<D extends Point>(devices: Iterable<D>, alone: D | undefined, across: number) {
  const squares = new Map<number, { x: number; y: number; devices: D[] }>()
  for (const device of devices) {
    if (device === alone) continue
    const square = Math.floor(device.y * across) * Math.ceil(across) + Math.floor(device.x * across)
    const there = squares.get(square)
    if (there === undefined) squares.set(square, { x: device.x, y: device.y, devices: [device] })
    else {
      there.devices.push(device)
      there.x += (device.x - there.x) / there.devices.length
      there.y += (device.y - there.y) / there.devices.length
    }
  }
  return squares.values()
}

function joined<D>(one: Cluster<D>, other: Cluster<D>): Cluster<D> {
  const devices = [...one.devices, ...other.devices]
  const share = other.devices.length / devices.length
  const { x, y } = one
  return { x: x + (other.x - x) * share, y: y + (other.y - y) * share, devices }
}
