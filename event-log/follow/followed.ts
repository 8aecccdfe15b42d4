import type { EventLog, LogBatch, LogEntry, TailGap } from '../event-log.ts'
import type { FactEntry } from '../../schemas/events/log-entry.ts'
import type { Offsets, Origin } from '../../schemas/devices/read-models.ts'

// The parts of the log, the store and the logger that readers following the log use.

/** The log of events, or that of facts. */
export type ReadableLog = Pick<EventLog, 'extent'> & {
  tail(options: Parameters<EventLog['tail']>[0]): AsyncIterable<FollowedItem>
}

export type FollowedEntry = LogEntry | FactEntry
export type FollowedBatch = Omit<LogBatch, 'entries'> & {
  readonly entries: readonly FollowedEntry[]
}
export type FollowedItem = ({ readonly kind: 'batch' } & FollowedBatch) | TailGap

/** The part of a logger that readers of the log use. */
export type FollowerLogger = Record<
  'debug' | 'warn' | 'error',
  (fields: object, message: string) => void
>

export type ReadErasure = { readonly origin: Origin; readonly erasedAt: number }

/** The erasures that the store knows; `pending`: one is not applied, and may not be in the log yet. */
export type KnownErasures = {
  erasuresOf(query: {
    readonly accountId: string
    readonly deviceIds: readonly string[]
  }): Promise<
    ReadonlyMap<
      string,
      { readonly pending: boolean; readonly upTo: Offsets; readonly erasedAt: number }
    >
  >
}
