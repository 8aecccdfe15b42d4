import type { Offsets, Origin } from '../schemas/read-models.ts'
import type { Extent } from './event-log.ts'

// All comparing of places in the log, partition by partition. A partition that is not named has
// nothing yet: every offset of it is still to come.

/** Whether the event that stands there is at or before these offsets. */
export function includes(offsets: Offsets, { partition, offset }: Origin): boolean {
  return offset <= (offsets[partition] ?? -1)
}

/** Whether `offsets` are as far as `target`, or further, in every partition that `target` names. */
export function hasReached(offsets: Offsets, target: Offsets): boolean {
  return Object.entries(target).every(([partition, offset]) =>
    includes(offsets, { partition: Number(partition), offset }),
  )
}

/** The greater offset of each partition. */
export function furthest(one: Offsets, other: Offsets): Record<number, number> {
  const offsets: Record<number, number> = { ...one }
  for (const [partition, offset] of Object.entries(other)) {
    offsets[Number(partition)] = Math.max(offsets[Number(partition)] ?? -1, offset)
  }
  return offsets
}

/** The lesser offset of each partition; none where one of the two names none. */
export function noFurtherThan(offsets: Offsets, end: Offsets): Record<number, number> {
  const bounded: Record<number, number> = {}
  for (const [partition, offset] of Object.entries(offsets)) {
    const last = end[Number(partition)]
    if (last !== undefined) bounded[Number(partition)] = Math.min(offset, last)
  }
  return bounded
}

/** The last offset of each partition that holds anything. */
export function endOf(extent: readonly Extent[]): Offsets {
  const held = extent.filter(({ first, next }) => first < next)
  return Object.fromEntries(held.map(({ partition, next }) => [partition, next - 1]))
}
