import type { EventLog, LogBatch } from '../event-log/event-log.ts'
import { DependencyError } from '../runtime/errors.ts'
import type { AppliedEvents } from '../schemas/read-models.ts'
import type { Generation } from '../store/generations.ts'

export type KnownLog = Pick<EventLog, 'extent' | 'eventIdsAt'>

/** The read models were built from another log; a retry cannot help. */
export class OtherLogError extends DependencyError {
  constructor(reason: string) {
    super(
      `the read models were built from another log: ${reason}. Restore that log, or rebuild the ` +
        'read models from this one: npm run rebuild -- --force',
      { retriable: false },
    )
  }
}

/**
 * The reason why the log is not the one that these events were applied from, or ends before them;
 * undefined if it is the same. Events removed by retention, or of a type unknown here, are not compared.
 */
export async function whyOtherLog(
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

export type SameLogCheck = {
  /** The first comparison, of all partitions. @throws {OtherLogError} */
  readonly begun: Promise<unknown>
  /** Call before projecting a batch. @throws {OtherLogError} */
  before(batch: LogBatch): Promise<void>
  after(batch: LogBatch): void
}

/**
 * Compares the log with the events that the read models have applied: all partitions at the start,
 * and a single one when its offsets go back, as they do when a topic is recreated.
 */
export function sameLogCheck(
  eventLog: KnownLog,
  readModels: Pick<Generation, 'lastApplied'>,
): SameLogCheck {
  const dealtWith = new Map<number, number>()
  const begun = compare()
  // Not an unhandled rejection: `before` and the caller handle it.
  begun.catch(() => undefined)

  return {
    begun,

    async before({ partition, entries }) {
      const from = entries[0]?.origin.offset ?? 0
      const last = dealtWith.get(partition) ?? (await appliedAtBegin(partition))
      if (last === undefined || from <= last) await compare(partition)
    },

    after({ partition, lastOffset }) {
      dealtWith.set(partition, lastOffset)
    },
  }

  /** Undefined if the first comparison failed. */
  async function appliedAtBegin(partition: number): Promise<number | undefined> {
    try {
      return (await begun)[partition]?.offset ?? -1
    } catch (error) {
      if (error instanceof OtherLogError) throw error
      return undefined
    }
  }

  async function compare(partition?: number): Promise<AppliedEvents> {
    const applied = await readModels.lastApplied()
    const event = partition === undefined ? undefined : applied[partition]
    const compared = partition === undefined ? applied : event && { [partition]: event }
    const reason = await whyOtherLog(eventLog, compared ?? {})
    if (reason !== undefined) throw new OtherLogError(reason)
    return applied
  }
}
