import type { Origin } from '../schemas/read-models.ts'

/**
 * A log of entries of one kind beside that of the events. It has a queue, places and a retention of
 * its own, so it neither delays nor displaces events.
 */
export interface Topic<Entry> {
  /**
   * Resolves once every entry is durable. An entry that is appended again may be kept once or twice.
   * @throws {DependencyError} as `EventLog.append` does.
   * @throws {UndecodableEventError} for an entry that could not be read back.
   */
  append(entries: readonly Entry[]): Promise<void>

  /**
   * Delivers every entry at least once to one member of the group, and moves on only after `onBatch`
   * has resolved. Unreadable entries are skipped. Resolves when `signal` is aborted and the current
   * batch is done.
   */
  subscribe(subscription: TopicSubscription<Entry>): Promise<void>

  /** The entries held now, oldest first in each partition, in batches of at most 500. */
  read(): AsyncIterable<TopicBatch<Entry>>

  /**
   * Removes batches in the order in which they were read, except the entries to keep, which come after all
   * others then. After a crash, some may be kept twice.
   */
  remove(batch: TopicBatch<Entry>, options: { readonly keep: readonly Entry[] }): Promise<void>

  /** The number of entries held. */
  count(): Promise<number>
}

export type TopicName = 'report-rejected' | 'dead-letter'

export type TopicSubscription<Entry> = {
  readonly group: string
  readonly onBatch: (entries: readonly Entry[]) => Promise<void>
  readonly signal: AbortSignal
}

/** Consecutive entries of one partition; `upTo` is the place of the last one. */
export type TopicBatch<Entry> = { readonly entries: readonly Entry[]; readonly upTo: Origin }
