import type { ShownStatus } from './live-device.ts'

/** A tile's edge: the world is this many pixels wide at zoom 0. */
export const TILE_PIXELS = 256

/** A cluster: one device, or all devices of a cell. */
export type Cluster<D> = {
  /** The mean of the devices' places. */
  x: number
  y: number
  readonly devices: D[]
  online: number
}

type Placed = { readonly x: number; readonly y: number; readonly status: ShownStatus }

/** At a zoom that separates streets, the devices in a yard are separated too. */
const CLOSE_ZOOM = 15
const CELL_PIXELS = 64
/** Closer than this devices are one cluster at any zoom. */
export const CLOSE_CELL_PIXELS = 24

/**
 * Groups devices by the cells of a grid that is fixed to the world: moving the map regroups
 * nothing, and zooming regroups only at whole zoom levels.
 *
 * @param alone is never grouped.
 */
export function clusters<D extends Placed>(
  devices: Iterable<D>,
  { zoom, alone }: { readonly zoom: number; readonly alone?: D | undefined },
): Cluster<D>[] {
  const level = Math.max(0, Math.floor(zoom + 1e-6))
  const cell = level >= CLOSE_ZOOM ? CLOSE_CELL_PIXELS : CELL_PIXELS
  const across = Math.round((TILE_PIXELS * 2 ** level) / cell)
  const cells = new Map<number, Cluster<D>>()
  const found: Cluster<D>[] = []
  for (const device of devices) {
    if (device === alone) continue
    const column = Math.min(across - 1, Math.floor(device.x * across))
    const row = Math.min(across - 1, Math.floor(device.y * across))
    const place = row * across + column
    const cluster = cells.get(place)
    if (cluster === undefined) {
      const made = single(device)
      cells.set(place, made)
      found.push(made)
    } else {
      cluster.devices.push(device)
      cluster.x += device.x
      cluster.y += device.y
      if (device.status === 'online') cluster.online += 1
    }
  }
  for (const cluster of found) {
    const { length } = cluster.devices
    if (length === 1) continue
    cluster.x /= length
    cluster.y /= length
  }
  // Last, so that it is painted above the other clusters.
  if (alone !== undefined) found.push(single(alone))
  return found
}

function single<D extends Placed>(device: D): Cluster<D> {
  const { x, y, status } = device
  return { x, y, devices: [device], online: status === 'online' ? 1 : 0 }
}
