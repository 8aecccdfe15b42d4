import type { EventLog, Extent } from '../event-log/event-log.ts'
import { projectorGroup } from '../projector/projector.ts'
import type { Offsets } from '../schemas/read-models.ts'
import type { Generation, OriginBounds } from '../store/read-models.ts'

/** How far a generation of the read models has come in each partition. */
export async function standing(
  eventLog: Pick<EventLog, 'committed'>,
  readModels: Pick<Generation, 'checkpoint'>,
  generation: number,
): Promise<Offsets> {
  return (await readModels.checkpoint()) ?? eventLog.committed(projectorGroup(generation))
}

/** The last offset of each partition that holds anything. */
export function endOf(extent: readonly Extent[]): Offsets {
  const held = extent.filter(({ first, next }) => first < next)
  return Object.fromEntries(held.map(({ partition, next }) => [partition, next - 1]))
}

export function hasReached(offsets: Offsets, target: Offsets): boolean {
  return Object.entries(target).every(
    ([partition, offset]) => (offsets[Number(partition)] ?? -1) >= offset,
  )
}

/** The lesser of the two in each partition; none where one of them has none. */
export function noFurtherThan(offsets: Offsets, end: Offsets): Offsets {
  const bounded: Record<number, number> = {}
  for (const [partition, offset] of Object.entries(offsets)) {
    const last = end[Number(partition)]
    if (last !== undefined) bounded[Number(partition)] = Math.min(offset, last)
  }
  return bounded
}

/** How many of the entries have been dealt with, and how many there are. */
export function eventsDone(
  offsets: Offsets,
  extent: readonly Extent[],
): { done: number; total: number } {
  let done = 0
  let total = 0
  for (const { partition, first, next } of extent) {
    total += next - first
    const reached = Math.min(next, (offsets[partition] ?? -1) + 1)
    done += Math.max(0, reached - first)
  }
  return { done, total }
}

/** Why records that come from these places cannot be made from the log again; undefined: they can. */
export function whatIsMissing(
  origins: ReadonlyMap<number, OriginBounds>,
  extent: readonly Extent[],
): string | undefined {
  for (const [partition, { least, greatest }] of origins) {
    const held = extent.find((one) => one.partition === partition)
    if (held === undefined) {
      return `the log has no partition ${partition}, which records in use come from`
    }
    if (greatest >= held.next) {
      return (
        `the log ends before offset ${held.next} of partition ${partition}, but records in use ` +
        `come from up to ${greatest}: it is not the log that they were made from`
      )
    }
    if (least < held.first) {
      return (
        `the log reaches back only to offset ${held.first} of partition ${partition}, the oldest ` +
        `record in use comes from ${least}`
      )
    }
  }
  return undefined
}
