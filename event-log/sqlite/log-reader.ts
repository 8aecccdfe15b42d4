import { DependencyError } from '../../runtime/errors.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import { eventIdOf } from '../../schemas/events/appended-event.ts'
import type { EventLog, LogBatch, LogEntry } from '../event-log.ts'
import { type TopicName, REJECTIONS } from '../topic.ts'
import { batchReader, PARTITION } from './batch-reader.ts'
import { groupReaders, LOOK_AGAIN_MS, type WarningLogger } from './group-readers.ts'
import { sleepers } from '../../runtime/process/repeat.ts'
import { tableTail } from '../../runtime/sqlite/table-tail.ts'
import { DEAD_LETTERS, topicReader, type CommitTopic } from './topic.ts'

/** Events are appended within this time of their receipt. */
const OUT_OF_ORDER_MS = 60_000

/** The read-only part of the log. */
export type SqliteLogReader = Pick<
  EventLog,
  'subscribe' | 'tail' | 'readAgain' | 'lag' | 'extent' | 'placeBefore' | 'eventIdsAt' | 'close'
> & {
  readonly [Topic in 'rejections' | 'deadLetters']: Omit<EventLog[Topic], 'append' | 'remove'>
} & {
  /** Signals new events. */
  appended(): void
  appendedTo(topic: TopicName): void
}

/**
 * Reads the log on an open database, which the caller closes. It stores no offsets of groups: the
 * progress of a topic's readers is passed to `commitTopic`, which may run in another thread.
 */
export function sqliteLogReader(
  database: Database,
  {
    commitTopic,
    clock,
    logger,
  }: {
    commitTopic: CommitTopic
    clock: { now(): number }
    logger: WarningLogger
  },
): SqliteLogReader {
  const statements = prepare(database)
  const read = batchReader(database)
  const groups = groupReaders<LogBatch>({ read, logger })
  const rejections = topicReader(database, REJECTIONS, { commit: commitTopic, logger })
  const deadLetters = topicReader(database, DEAD_LETTERS, { commit: commitTopic, logger })
  const waitingForMore = sleepers()
  let stopped = false

  return {
    async subscribe({ group, resumeAfter, onBatch, signal }) {
      if (signal.aborted) return
      const after = (await resumeAfter?.())?.[PARTITION] ?? -1
      if (after > lastOffset()) {
        throw new DependencyError(
          `${group} cannot resume after offset ${after}: the log ends at ${lastOffset()}: these read models were built from another log. Restore that log, or rebuild them from this one: npm run rebuild -- --force`,
          { retriable: false },
        )
      }
      await groups.deliver({ group, after, onBatch, signal })
    },

    rejections,
    deadLetters,
    readAgain: async (kept) => readEntryAt(kept.origin.offset) ?? kept,

    tail({ after, signal }) {
      const end = lastOffset()
      // An offset beyond the end is from another log; new events must not be skipped because of it.
      const start = after === 'end' ? end : Math.min(after[PARTITION] ?? 0, end)
      return tableTail({
        partition: PARTITION,
        after: start,
        read,
        removedUpTo: readTrimOffset,
        waiting: waitingForMore,
        lookAgainMs: LOOK_AGAIN_MS,
        hasEnded: () => stopped,
        signal,
      })
    },

    async lag(_group, applied = {}) {
      const after = Math.max(applied[PARTITION] ?? 0, readTrimOffset())
      const oldest = statements.oldestAfter.get(after)
      if (oldest === undefined) return { events: 0, seconds: 0 }
      const seconds = Math.max(0, (clock.now() - oldest.receivedAt) / 1000)
      return { events: lastOffset() - after, seconds }
    },

    async extent() {
      const first = readTrimOffset() + 1
      return [{ partition: PARTITION, first, next: lastOffset() + 1, whole: first === 1 }]
    },

    async placeBefore(time) {
      // Offsets have no gaps, and times hardly any: no index is worth its cost per report.
      let below = readTrimOffset()
      let above = lastOffset() + 1
      while (below + 1 < above) {
        const middle = Math.floor((below + above) / 2)
        const { receivedAt } = statements.timeAt.get(middle) ?? { receivedAt: -Infinity }
        if (receivedAt < time - OUT_OF_ORDER_MS) below = middle
        else above = middle
      }
      return { [PARTITION]: below }
    },

    async eventIdsAt({ [PARTITION]: offset = 0 }) {
      const entry = readEntryAt(offset)
      const isEvent = entry !== undefined && 'event' in entry
      return new Map(isEvent ? [[PARTITION, eventIdOf(entry.event)]] : [])
    },

    appended() {
      groups.appended()
      waitingForMore.wakeAll()
    },

    appendedTo: (topic) =>
      ({ 'report-rejected': rejections, 'dead-letter': deadLetters })[topic].appended(),

    async close() {
      stopped = true
      waitingForMore.wakeAll()
      await Promise.all([groups, rejections, deadLetters].map((one) => one.stop()))
    },
  }

  function readEntryAt(offset: number): LogEntry | undefined {
    const entry = read(offset - 1)?.entries[0]
    return entry?.origin.offset === offset ? entry : undefined
  }

  function lastOffset(): number {
    return numberFrom(statements.lastOffset.get())
  }

  function readTrimOffset(): number {
    return numberFrom(statements.trimmedUpTo.get())
  }
}

type N = { readonly n: number }

function numberFrom(row: N | undefined): number {
  return row?.n ?? 0
}

function prepare(database: Database) {
  return {
    // The sequence survives when trimming deletes rows.
    lastOffset: database.prepare<N>(`SELECT seq AS n FROM sqlite_sequence WHERE name = 'events'`),
    oldestAfter: database.prepare<{ receivedAt: number }>(
      'SELECT received_at AS receivedAt FROM events WHERE offset > ? ORDER BY offset LIMIT 1',
    ),
    timeAt: database.prepare<{ receivedAt: number }>(
      'SELECT received_at AS receivedAt FROM events WHERE offset = ?',
    ),
    trimmedUpTo: database.prepare<N>('SELECT up_to AS n FROM trimmed'),
  }
}
