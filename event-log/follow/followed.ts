import type { EventLog } from '../event-log.ts'
import type { Offsets, Origin } from '../../schemas/read-models.ts'

// The parts of the log, the store and the logger that readers following the log use.

export type ReadableLog = Pick<EventLog, 'tail' | 'extent'>

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
