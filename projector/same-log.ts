import type { EventLog, LogBatch } from '../event-log/event-log.ts'
import { DependencyError } from '../runtime/errors.ts'
import type { AppliedEvents, Offsets } from '../schemas/devices/read-models.ts'
import type { Generation } from '../store/generations.ts'

export type KnownLog = Pick<EventLog, 'extent' | 'eventIdsAt'>

/** The log cannot continue these read models; a retry cannot help. */
export class UnfitLogError extends DependencyError {
  constructor(reason: string) {
    super(reason, { retriable: false })
  }
}

/** The read models were built from another log. */
export class OtherLogError extends UnfitLogError {
  constructor(reason: string) {
    super(
      `the read models were built from another log: ${reason}. Restore that log, or rebuild the ` +
        'read models from this one: npm run rebuild -- --force',
    )
  }
}

/** The facts were decided from another log. */
export class OtherFactsError extends UnfitLogError {
  constructor(reason: string) {
    super(
      `the events were decided from another log: ${reason}. Restore that log, or start without the events: ` +
        'remove facts.sqlite, or the collections facts, fact_states and fact_progress',
    )
  }
}

/** The log no longer holds events that the read models lack. */
export class LogTooShortError extends UnfitLogError {
  constructor(gap: string) {
    super(
      `the log no longer holds ${gap}, which the read models lack. Restore a newer backup of the store, or ` +
        'a log that holds them, or rebuild the read models from what this log holds: ' +
        'npm run rebuild -- --force',
    )
  }
}

/**
 * Explains why the log is not the one that these events were applied from, or ends before them;
 * undefined if it is the same log. Events removed by retention, or of a type unknown here, are not
 * compared.
 */
export async function findOtherLogReason(
  eventLog: KnownLog,
  applied: AppliedEvents,
): Promise<string | undefined> {
  const places = Object.entries(applied).map(([partition, event]) => ({
    partition: Number(partition),
    ...event,
  }))
  if (places.length === 0) return undefined
  const extent = await eventLog.extent()
  for (const { partition, offset, id } of places) {
    const next = extent.find((one) => one.partition === partition)?.next ?? 0
    if (offset < next) continue
    return (
      `partition ${partition} ends before offset ${next}, but event ${id} at offset ${offset} ` +
      'was applied'
    )
  }
  const offsets = Object.fromEntries(places.map(({ partition, offset }) => [partition, offset]))
  const idsInLog = await eventLog.eventIdsAt(offsets)
  for (const { partition, offset, id } of places) {
    const there = idsInLog.get(partition)
    if (there === undefined || there === id) continue
    return (
      `at offset ${offset} of partition ${partition} is event ${there}, but event ${id} was ` +
      'applied there'
    )
  }
  return undefined
}

/**
 * Describes the missing events between these offsets and the log's first entry; undefined if none
 * are missing.
 */
export async function findGapBefore(
  eventLog: Pick<EventLog, 'extent'>,
  processed: Offsets,
): Promise<string | undefined> {
  const gaps = (await eventLog.extent()).flatMap(({ partition, first }) => {
    const last = processed[partition]
    if (last === undefined || last + 1 >= first) return []
    return [`${last + 1} to ${first - 1} of partition ${partition}`]
  })
  return gaps.length === 0 ? undefined : `the events at offsets ${gaps.join(', ')}`
}

export type SameLogCheck = {
  /** The first comparison, of all partitions. @throws {UnfitLogError} */
  readonly begun: Promise<unknown>
  /** Call before projecting a batch. @throws {UnfitLogError} */
  before(batch: LogBatch): Promise<void>
  after(batch: LogBatch): void
}

/**
 * Compares the log with the events that the read models have applied: all partitions at the start,
 * and a single one when its offsets go back, as they do when a topic is recreated.
 */
export function sameLogCheck(
  eventLog: KnownLog,
  readModels: Pick<Generation, 'checkpoint' | 'lastApplied'>,
  { tolerates }: { tolerates: (gap: string) => Promise<boolean> },
): SameLogCheck {
  const dealtWith = new Map<number, number>()
  const begun = compare()
  // Not an unhandled rejection: `before` and the caller handle it.
  begun.catch(() => undefined)

  return {
    begun,

    async before({ partition, lastOffset, entries }) {
      const from = entries[0]?.origin.offset ?? lastOffset
      const last = dealtWith.get(partition) ?? (await readFirstApplied(partition))
      if (last === undefined || from <= last) await compare(partition)
    },

    after({ partition, lastOffset }) {
      dealtWith.set(partition, lastOffset)
    },
  }

  /** Undefined if the first comparison failed. */
  async function readFirstApplied(partition: number): Promise<number | undefined> {
    try {
      return (await begun)[partition]?.offset ?? -1
    } catch (error) {
      if (error instanceof UnfitLogError) throw error
      return undefined
    }
  }

  async function compare(partition?: number): Promise<AppliedEvents> {
    const applied = await readModels.lastApplied()
    const reason = await findOtherLogReason(eventLog, pickPartition(partition, applied))
    if (reason !== undefined) throw new OtherLogError(reason)
    const processed = await readModels.checkpoint()
    const gap = await findGapBefore(eventLog, pickPartition(partition, processed))
    if (gap !== undefined && !(await tolerates(gap))) throw new LogTooShortError(gap)
    return applied
  }
}

function pickPartition<T>(partition: number | undefined, all: Readonly<Record<number, T>>) {
  if (partition === undefined) return all
  const own = all[partition]
  return own === undefined ? {} : { [partition]: own }
}
