import type { MapPoint } from './mercator.ts'
import { nearMarks } from './near-marks.ts'
import type { ShownStatus } from './live-device.ts'

/** A tile's edge: the world is this many pixels wide at zoom 0. */
export const TILE_PIXELS = 256

/** A cluster: one device, or devices so near each other that their marks would overlap. */
export type Cluster<D> = {
  /** The mean of the devices' places. */
  readonly x: number
  readonly y: number
  readonly devices: readonly D[]
}

/** From this zoom on, devices in one yard are separated, too. */
const CLOSE_ZOOM = 15
/** Half the distance at which two devices become one cluster, in pixels, with room for their names. */
const ROOM = 16
const CLOSE_ROOM = 9
/** Between two rings. */
const GAP = 2
const MOST_RADIUS = 26

/** Devices closer than this share a cluster at any zoom. */
export const ONE_SPOT_PIXELS = 2 * CLOSE_ROOM

/** The radius of the ring around a cluster's number, in pixels. */
export function clusterRadius(count: number): number {
  return Math.round(Math.min(MOST_RADIUS, 13 + 5.12 * Math.log10(count)))
}

/**
 * Groups devices by nearness, also across 180°, so that no cluster covers another one's number.
 * Moving the map regroups nothing, and zooming regroups only at whole zoom levels.
 *
 * @param alone is never grouped.
 */
export function clusters<D extends MapPoint>(
  devices: Iterable<D>,
  { zoom, alone }: { readonly zoom: number; readonly alone?: D | undefined },
): Cluster<D>[] {
  const level = Math.max(0, Math.floor(zoom + 1e-6))
  const room = level >= CLOSE_ZOOM ? CLOSE_ROOM : ROOM
  const world = TILE_PIXELS * 2 ** level
  const together = spots(devices, alone, world / room)
  // Each union of two is one more mark.
  const marks = nearMarks({ most: 2 * together.size, around: world, cell: 2 * room })
  const byMark: (Group<D> | undefined)[] = []

  function add(group: Group<D>): void {
    const { length } = group.devices
    const radius = length === 1 ? room : clusterRadius(length) + GAP / 2
    byMark[marks.add(group.x * world, group.y * world, radius)] = group
  }

  for (const spot of together.values()) add(spot)
  // A merged cluster may overlap others, so it is checked again at the end.
  for (let mark = 0; mark < byMark.length; mark += 1) {
    const group = byMark[mark]
    const near = group && marks.overlapping(mark)
    const other = near === undefined ? undefined : byMark[near]
    if (group === undefined || near === undefined || other === undefined) continue
    for (const one of [mark, near]) {
      marks.remove(one)
      byMark[one] = undefined
    }
    const [larger, smaller] =
      group.devices.length < other.devices.length ? [other, group] : [group, other]
    join(larger, smaller)
    add(larger)
  }
  const clusters: Cluster<D>[] = byMark.filter((group) => group !== undefined)
  // Last, so that it is painted above the other clusters.
  if (alone !== undefined) clusters.push({ x: alone.x, y: alone.y, devices: [alone] })
  return clusters
}

type Group<D> = { x: number; y: number; readonly devices: D[] }

/**
 * Groups devices by small squares first: they would share a cluster anyway, and squares are fast to
 * look up.
 */
function spots<D extends MapPoint>(devices: Iterable<D>, alone: D | undefined, across: number) {
  const squares = new Map<number, Group<D>>()
  for (const device of devices) {
    if (device === alone) continue
    const { x, y } = device
    // 180° east is 180° west.
    const column = Math.floor((x - Math.floor(x)) * across)
    const square = Math.floor(y * across) * Math.ceil(across) + column
    const there = squares.get(square)
    if (there === undefined) squares.set(square, { x, y, devices: [device] })
    else join(there, { x, y, devices: [device] })
  }
  return squares
}

/** Adds the devices of another group, on the shorter way around the world. */
function join<D>(group: Group<D>, { x, y, devices }: Group<D>): void {
  for (const device of devices) group.devices.push(device)
  const share = devices.length / group.devices.length
  const east = x - group.x
  group.x += (east - Math.round(east)) * share
  group.y += (y - group.y) * share
}

/** The order of the parts, clockwise from the top. */
const STATUSES = ['online', 'idle', 'offline', 'disabled'] as const satisfies readonly ShownStatus[]

/** The resolution of a ring's shares. */
export const RING_STEPS = 48

export type RingPart = { readonly status: ShownStatus; readonly steps: number }

/**
 * The parts of a ring that shows the statuses of devices in proportion; every status that occurs
 * gets at least one step.
 */
export function statusRing(devices: readonly { readonly status: ShownStatus }[]): RingPart[] {
  const counts = new Map<ShownStatus, number>()
  for (const { status } of devices) counts.set(status, (counts.get(status) ?? 0) + 1)
  const parts = STATUSES.flatMap((status) => {
    const exact = ((counts.get(status) ?? 0) / devices.length) * RING_STEPS
    return exact === 0 ? [] : [{ status, exact, steps: Math.max(1, Math.floor(exact)) }]
  })
  // Rounding down leaves steps over; the minimum of one step may use too many.
  for (let left = RING_STEPS - sumOf(parts); left !== 0; left -= Math.sign(left)) {
    const lacks = (part: (typeof parts)[number]) => Math.sign(left) * (part.exact - part.steps)
    const able = parts.filter(({ steps }) => left > 0 || steps > 1)
    const most = able.reduce((a, b) => (lacks(b) > lacks(a) ? b : a))
    most.steps += Math.sign(left)
  }
  return parts.map(({ status, steps }) => ({ status, steps }))
}

function sumOf(parts: readonly { readonly steps: number }[]): number {
  return parts.reduce((sum, { steps }) => sum + steps, 0)
}

type CanvasPoint = { readonly x: number; readonly y: number }

/**
 * Moves a spot to at least `distance` from another one, in the same direction, or to the left if
 * they coincide.
 */
export function movedAside(spot: CanvasPoint, from: CanvasPoint, distance: number): CanvasPoint {
  const [dx, dy] = [spot.x - from.x, spot.y - from.y]
  const now = Math.hypot(dx, dy)
  if (now >= distance) return { x: spot.x, y: spot.y }
  if (now === 0) return { x: from.x - distance, y: from.y }
  return { x: from.x + (dx / now) * distance, y: from.y + (dy / now) * distance }
}
