import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { utf8 } from '../../schemas/event-fields.ts'
import {
  decodeReportRejected,
  encodeReportRejected,
  REJECTIONS_KEPT_MS,
  type ReportRejected,
} from '../../schemas/report-rejected.ts'
import type { RejectionLog } from '../event-log.ts'
import { gatheringWriter } from '../gathering-writer.ts'
import { PARTITION } from './batch-reader.ts'
import { groupReaders } from './group-readers.ts'

/** What may wait to be written: a flood of refused reports must not fill the memory. */
const BOUNDS = { maxQueuedItems: 1000, maxQueuedBytes: 4 * 1024 * 1024 } as const
const MAX_EVENTS = 500
/** Rows that go in one transaction, so that what waits behind it waits only shortly. */
const EXPIRY_CHUNK = 1000
/** About what a row takes besides its value. */
const ROW_OVERHEAD_BYTES = 64

/** The log of rejections in tables of its own beside the events, with its own writer and readers. */
export function sqliteRejections({
  database,
  attempt,
  change,
  clock,
  logger,
}: {
  database: DatabaseSyncInstance
  /** Runs what reads or writes the database; throws a `DependencyError` when that is at fault. */
  attempt: <T>(doing: string, work: () => T) => T
  /** The same in a transaction of its own. */
  change: (doing: string, work: () => void) => void
  clock: { now(): number }
  logger: { warn(fields: object, message: string): void }
}): RejectionLog & { close(): Promise<void> } {
  const statements = prepare(database)
  const writer = gatheringWriter<Row>({
    ...BOUNDS,
    async writeBatch(rows) {
      change('write', () => {
        for (const row of rows) statements.insert.run(...row)
        statements.expire.run(clock.now() - REJECTIONS_KEPT_MS, EXPIRY_CHUNK)
      })
      readers.appended()
    },
  })
  const readers = groupReaders<RejectionBatch>({
    read: (after) => attempt('be read', () => readBatch(after)),
    commit: (group, offset) => change('commit', () => statements.commit.run(group, offset)),
    logger,
  })

  return {
    async appendRejections(events) {
      // Encoded before it is queued: what cannot be encoded must not spoil others' batches.
      const rows = events.map(toRow)
      await writer.write(
        rows,
        rows.reduce((bytes, [, value]) => bytes + value.byteLength + ROW_OVERHEAD_BYTES, 0),
      )
    },

    async subscribeRejections({ group, onBatch, signal }) {
      await readers.deliver({
        group,
        after: committed(group),
        onBatch: async ({ events }) => {
          if (events.length > 0) await onBatch(events)
        },
        signal,
        resumesByCommit: true,
      })
    },

    async close() {
      await writer.close()
      await readers.stop()
    },
  }

  function committed(group: string): number {
    return attempt('be read', () => {
      const row = statements.committed.get(group) as { offset: number } | undefined
      return row?.offset ?? 0
    })
  }

  function readBatch(after: number): RejectionBatch | undefined {
    const rows = statements.next.all(after, MAX_EVENTS) as StoredRow[]
    const last = rows.at(-1)
    return last && { lastOffset: last.offset, events: rows.flatMap(readable) }
  }

  function readable({ offset, value }: StoredRow): ReportRejected[] {
    try {
      return [decodeReportRejected(utf8(value, 'value'))]
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      logger.warn({ partition: PARTITION, offset, reason }, 'rejection left out')
      return []
    }
  }
}

type Row = [receivedAt: number, value: Uint8Array]
type StoredRow = { readonly offset: number; readonly value: Uint8Array }
type RejectionBatch = { readonly lastOffset: number; readonly events: readonly ReportRejected[] }

function toRow(event: ReportRejected): Row {
  return [event.receivedAt, Buffer.from(encodeReportRejected(event))]
}

function prepare(database: DatabaseSyncInstance) {
  return {
    insert: database.prepare('INSERT INTO rejections (received_at, value) VALUES (?, ?)'),
    expire: database.prepare(
      `DELETE FROM rejections WHERE offset IN (
         SELECT offset FROM rejections WHERE received_at < ? ORDER BY received_at LIMIT ?)`,
    ),
    next: database.prepare(
      'SELECT offset, value FROM rejections WHERE offset > ? ORDER BY offset LIMIT ?',
    ),
    commit: database.prepare(
      `INSERT INTO rejections_committed (consumer_group, offset) VALUES (?, ?)
       ON CONFLICT (consumer_group) DO UPDATE SET offset = excluded.offset`,
    ),
    committed: database.prepare('SELECT offset FROM rejections_committed WHERE consumer_group = ?'),
  }
}
