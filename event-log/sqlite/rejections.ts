import type { Database } from '../../runtime/sqlite/database.ts'
import { utf8 } from '../../schemas/event-fields.ts'
import {
  decodeReportRejected,
  encodeReportRejected,
  REJECTIONS_KEPT_MS,
  type ReportRejected,
} from '../../schemas/report-rejected.ts'
import type { RejectionLog } from '../event-log.ts'
import { gatheringWriter, waitingRoom } from '../gathering-writer.ts'
import { PARTITION } from './batch-reader.ts'
import { groupReaders, type WarningLogger } from './group-readers.ts'

/** Limits the queue: a flood of refused reports must not fill the memory. */
const BOUNDS = { maxItems: 1000, maxBytes: 4 * 1024 * 1024 } as const
const MAX_EVENTS = 500
/** Rows per transaction, so that queued writes are delayed only briefly. */
const EXPIRY_CHUNK = 1000
/** Approximate size of a row besides its value. */
const ROW_OVERHEAD_BYTES = 64

/** Writes the log of rejections, in its own tables and with its own queue. */
export function rejectionsWriter(
  database: Database,
  { clock, onAppended }: { clock: { now(): number }; onAppended: () => void },
) {
  const insert = database.prepare('INSERT INTO rejections (received_at, value) VALUES (?, ?)')
  const expire = database.prepare(
    `DELETE FROM rejections WHERE offset IN (
       SELECT offset FROM rejections WHERE received_at < ? ORDER BY received_at LIMIT ?)`,
  )
  const commit = database.prepare(
    `INSERT INTO rejections_committed (consumer_group, offset) VALUES (?, ?)
     ON CONFLICT (consumer_group) DO UPDATE SET offset = excluded.offset`,
  )
  const writer = gatheringWriter<Row>({
    room: waitingRoom(BOUNDS),
    async writeBatch(rows) {
      database.transaction(() => {
        for (const row of rows) insert.run(...row)
        expire.run(clock.now() - REJECTIONS_KEPT_MS, EXPIRY_CHUNK)
      })
      onAppended()
    },
  })

  return {
    async append(events: readonly ReportRejected[]): Promise<void> {
      // Encoded before it is queued: an unencodable event must not fail other callers' batches.
      const rows = events.map(toRow)
      await writer.write(
        rows,
        rows.reduce((bytes, [, value]) => bytes + value.byteLength + ROW_OVERHEAD_BYTES, 0),
      )
    },

    async commit(group: string, offset: number): Promise<void> {
      commit.run(group, offset)
    },

    close: () => writer.close(),
  }
}

/** Reads the log of rejections for groups. */
export function rejectionsReader(
  database: Database,
  {
    commit,
    logger,
  }: {
    commit: (group: string, offset: number) => Promise<void>
    logger: WarningLogger
  },
) {
  const next = database.prepare<StoredRow>(
    'SELECT offset, value FROM rejections WHERE offset > ? ORDER BY offset LIMIT ?',
  )
  const committed = database.prepare<{ offset: number }>(
    'SELECT offset FROM rejections_committed WHERE consumer_group = ?',
  )
  const readers = groupReaders<RejectionBatch>({ read, commit, logger })

  return {
    async subscribe({
      group,
      onBatch,
      signal,
    }: Parameters<RejectionLog['subscribeRejections']>[0]): Promise<void> {
      await readers.deliver({
        group,
        after: committed.get(group)?.offset ?? 0,
        onBatch: async ({ events }) => {
          if (events.length > 0) await onBatch(events)
        },
        signal,
      })
    },

    appended: () => readers.appended(),

    stop: () => readers.stop(),
  }

  function read(after: number): RejectionBatch | undefined {
    const rows = next.all(after, MAX_EVENTS)
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
