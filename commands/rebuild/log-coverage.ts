import type { Extent } from '../../event-log/event-log.ts'
import type { Offsets } from '../../schemas/devices/read-models.ts'
import type { OriginBounds } from '../../store/generations.ts'

/** The number of log entries processed, and of all entries. */
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

/** Explains why the log cannot rebuild records of these origins; undefined if it can. */
export function findMissingEntries(
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
        `come from up to ${greatest}: they were built from another log`
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
