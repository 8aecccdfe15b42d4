import type { Offsets, Origin } from '../schemas/devices/read-models.ts'
import type { Extent } from './event-log.ts'

/** Offsets in the whole log. */
export type LogPlace = Record<number, number>

// Compares positions in the log, partition by partition. In a partition that is not named, nothing
// has been read yet.

/** Whether the event at this origin is at or before these offsets. */
export function includes(offsets: Offsets, { partition, offset }: Origin): boolean {
  return offset <= (offsets[partition] ?? -1)
}

/**
 * Returns the offsets with one changed. When a number is added to an object, V8 reserves room for
 * 16 more, and a copy keeps that room; parsed JSON has none, which saves 130 bytes per remembered
 * device.
 */
export function setOffset(offsets: Offsets, { partition, offset }: Origin): Offsets {
  const moved: Record<number, number> = { ...offsets }
  moved[partition] = offset
  if (offsets[partition] !== undefined) return moved
  return JSON.parse(JSON.stringify(moved)) as Offsets
}

/** Whether `offsets` have reached `target` in every partition that `target` names. */
export function hasReached(offsets: Offsets, target: Offsets): boolean {
  return Object.entries(target).every(([partition, offset]) =>
    includes(offsets, { partition: Number(partition), offset }),
  )
}

/** The higher offset of each partition. */
export function higherOffsets(one: Offsets, other: Offsets): Record<number, number> {
  const offsets: Record<number, number> = { ...one }
  for (const [partition, offset] of Object.entries(other)) {
    offsets[Number(partition)] = Math.max(offsets[Number(partition)] ?? -1, offset)
  }
  return offsets
}

/** The lower offset of each partition that both name. */
export function lowerOffsets(offsets: Offsets, end: Offsets): Record<number, number> {
  const bounded: Record<number, number> = {}
  for (const [partition, offset] of Object.entries(offsets)) {
    const last = end[Number(partition)]
    if (last !== undefined) bounded[Number(partition)] = Math.min(offset, last)
  }
  return bounded
}

/** The last offset of each non-empty partition. */
export function endOf(extent: readonly Extent[]): Offsets {
  const held = extent.filter(({ first, next }) => first < next)
  return Object.fromEntries(held.map(({ partition, next }) => [partition, next - 1]))
}
