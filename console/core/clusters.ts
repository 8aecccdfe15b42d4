import type { MapPoint } from '../../schemas/geo/mercator.ts'
import type { ShownStatus } from './live-device.ts'

/** A tile's edge: the world is this many pixels wide at zoom 0. */
export const TILE_PIXELS = 256

/** A cluster: one device, or devices so close together that their marks would overlap. */
export type Cluster<D> = {
  /** The mean of the devices' positions. */
  readonly x: number
  readonly y: number
  readonly devices: readonly D[]
}

/** From this zoom on, devices in one yard are also separated. */
const CLOSE_ZOOM = 15
/**
 * Half the distance at which two devices become one cluster, in pixels, with room for their names.
 */
const ROOM = 16
const CLOSE_ROOM = 9
/** Distance between two rings. */
const GAP = 2
const MOST_RADIUS = 26

/** Devices closer than this share a cluster at any zoom. */
export const ONE_SPOT_PIXELS = 2 * CLOSE_ROOM

/** The radius of the ring around a cluster's number, in pixels. */
export function clusterRadius(count: number): number {
  return Math.round(Math.min(MOST_RADIUS, 13 + 5.12 * Math.log10(count)))
}

/**
 * Groups devices by proximity, also across 180°, so that no cluster covers another cluster's
 * number. Moving the map regroups nothing, and zooming regroups only at whole zoom levels.
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
  // Merging two clusters adds one mark.
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
  // Added last, so that it is painted above the other clusters.
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

/** Steps into which the shares of a cluster's ring are rounded. */
export const RING_STEPS = 48

export type RingPart = { readonly status: ShownStatus; readonly steps: number }

/**
 * The parts of a ring that shows the statuses of devices in proportion; each occurring status gets
 * at least one step.
 */
export function statusRing(devices: readonly { readonly status: ShownStatus }[]): RingPart[] {
  const counts = new Map<ShownStatus, number>()
  for (const { status } of devices) counts.set(status, (counts.get(status) ?? 0) + 1)
  const parts = STATUSES.flatMap((status) => {
    const exact = ((counts.get(status) ?? 0) / devices.length) * RING_STEPS
    return exact === 0 ? [] : [{ status, exact, steps: Math.max(1, Math.floor(exact)) }]
  })
  // Rounding down leaves some steps unused; the minimum of one step may use too many.
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
export function moveAside(spot: CanvasPoint, from: CanvasPoint, distance: number): CanvasPoint {
  const [dx, dy] = [spot.x - from.x, spot.y - from.y]
  const now = Math.hypot(dx, dy)
  if (now >= distance) return { x: spot.x, y: spot.y }
  if (now === 0) return { x: from.x - distance, y: from.y }
  return { x: from.x + (dx / now) * distance, y: from.y + (dy / now) * distance }
}

/** Cells that share a list only cost time. */
const LISTS = 2 ** 15
const END = -1

/**
 * A spatial index of marks on a cylinder, by number.
 *
 * @param most the maximum number of marks.
 * @param around the circumference, after which `x` starts again at 0.
 * @param cell twice the radius of most marks: wider cells only hold more marks to compare.
 */
export function nearMarks({ most, around, cell }: { most: number; around: number; cell: number }) {
  const columns = Math.max(1, Math.floor(around / cell))
  const width = around / columns
  const xs = new Float64Array(most)
  const ys = new Float64Array(most)
  const radii = new Float64Array(most)
  /** The first mark of each list, and after each mark the next one. */
  const firsts = new Int32Array(LISTS).fill(END)
  const nexts = new Int32Array(most)
  let count = 0
  let largest = 0

  const listOf = (column: number, row: number) =>
    (Math.imul(column, 73_856_093) ^ Math.imul(row, 19_349_663)) & (LISTS - 1)
  const listAt = (mark: number) => {
    // Rounding may produce the column after the last one.
    const column = Math.min(columns - 1, Math.floor((xs[mark] ?? 0) / width))
    return listOf(column, Math.floor((ys[mark] ?? 0) / cell))
  }

  return {
    /** Returns the mark's number: how many were added before it. */
    add(x: number, y: number, radius: number): number {
      const mark = count
      count += 1
      xs[mark] = x - around * Math.floor(x / around)
      ys[mark] = y
      radii[mark] = radius
      largest = Math.max(largest, radius)
      const list = listAt(mark)
      nexts[mark] = firsts[list] ?? END
      firsts[list] = mark
      return mark
    },
    remove(mark: number): void {
      const list = listAt(mark)
      const next = nexts[mark] ?? END
      let before = firsts[list] ?? END
      if (before === mark) firsts[list] = next
      else {
        while (nexts[before] !== mark) before = nexts[before] ?? END
        nexts[before] = next
      }
    },
    /** The nearest other mark that overlaps this one. */
    overlapping(mark: number): number | undefined {
      const [x = 0, y = 0, radius = 0] = [xs[mark], ys[mark], radii[mark]]
      const reach = radius + largest
      const first = Math.floor((x - reach) / width)
      const last = Math.min(Math.floor((x + reach) / width), first + columns - 1)
      const lowest = Math.floor((y + reach) / cell)
      let nearest: number | undefined
      let least = Infinity
      for (let row = Math.floor((y - reach) / cell); row <= lowest; row += 1) {
        for (let step = first; step <= last; step += 1) {
          const column = step < 0 ? step + columns : step >= columns ? step - columns : step
          for (let at = firsts[listOf(column, row)] ?? END; at !== END; at = nexts[at] ?? END) {
            const across = Math.abs((xs[at] ?? 0) - x)
            const dx = Math.min(across, around - across)
            const dy = (ys[at] ?? 0) - y
            const square = dx * dx + dy * dy
            const enough = radius + (radii[at] ?? 0)
            if (square >= least || square >= enough * enough || at === mark) continue
            least = square
            nearest = at
          }
        }
      }
      return nearest
    },
  }
}
