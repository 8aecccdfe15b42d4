import type { Database } from '../../runtime/sqlite/database.ts'
import { gatheringWriter, waitingRoom } from '../gathering-writer.ts'
import {
  type Topic,
  type TopicName,
  deadLettersOf,
  type StoredRecord,
  type TopicKind,
  type TopicRecord,
} from '../topic.ts'
import { PARTITION } from './batch-reader.ts'
import { groupReaders, type WarningLogger } from './group-readers.ts'

const MAX_ENTRIES = 500
/** How often old entries are removed when nothing is appended. */
const EXPIRE_EVERY_MS = 10 * 60_000
/** Rows per transaction, so that queued writes are delayed only briefly. */
const EXPIRY_CHUNK = 1000
/** Approximate size of a row apart from its value. */
const ROW_OVERHEAD_BYTES = 64

export const DEAD_LETTERS = deadLettersOf('events')

/** Stores the progress of a group of a topic's readers. Resolves once durable. */
export type CommitTopic = (topic: TopicName, group: string, offset: number) => Promise<void>

/** The schema of a topic's table. */
export function topicTable(name: TopicName): string {
  return `
  CREATE TABLE "${name}" (
    offset INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    time INTEGER NOT NULL,
    key BLOB,
    value BLOB,
    headers TEXT NOT NULL
  ) STRICT;
  CREATE INDEX "${name} by time" ON "${name}" (time);
  `
}

/** The writing part of a topic, with a separate queue; stores a repeated entry once. */
export function sqliteTopicWriter<Entry>(
  database: Database,
  kind: TopicKind<Entry>,
  {
    clock,
    onAppended,
    expireEveryMs = EXPIRE_EVERY_MS,
  }: {
    clock: { now(): number }
    onAppended: (topic: TopicName) => void
    expireEveryMs?: number | undefined
  },
): Pick<Topic<Entry>, 'append' | 'remove'> & { close(): Promise<void> } {
  const insert = database.prepare(
    `INSERT INTO "${kind.name}" (id, time, key, value, headers) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  )
  const expire = database.prepare(
    `DELETE FROM "${kind.name}" WHERE offset IN (
       SELECT offset FROM "${kind.name}" WHERE time < ? ORDER BY time LIMIT ${EXPIRY_CHUNK})`,
  )
  const expires = Number.isFinite(kind.keptMs)
  const remove = database.prepare(`DELETE FROM "${kind.name}" WHERE offset <= ?`)
  const writer = gatheringWriter<Row>({
    room: waitingRoom(kind.waiting),
    async writeBatch(rows) {
      database.transaction(() => {
        for (const row of rows) insert.run(...row)
        if (expires) expire.run(clock.now() - kind.keptMs)
      })
      onAppended(kind.name)
    },
  })
  const expiring = expires ? setInterval(expireSome, expireEveryMs).unref() : undefined

  /** Runs one step at a time: a long queue of steps must not block events. */
  function expireSome(): void {
    try {
      if (expire.run(clock.now() - kind.keptMs) === EXPIRY_CHUNK) setImmediate(expireSome)
    } catch {
      // Busy, full or closed: it runs again at the next interval.
    }
  }

  // Encoded before it is queued: an unencodable entry must not fail other callers' batches.
  const rowsOf = (entries: readonly Entry[]) =>
    entries.map((entry) => toRow(kind.toRecord(entry), clock.now()))

  return {
    async append(entries) {
      const rows = rowsOf(entries)
      await writer.write(
        rows,
        rows.reduce((bytes, [, , , value]) => bytes + (value?.length ?? 0) + ROW_OVERHEAD_BYTES, 0),
      )
    },

    async remove({ upTo }, { keep }) {
      const kept = rowsOf(keep)
      database.transaction(() => {
        remove.run(upTo.offset)
        for (const row of kept) insert.run(...row)
      })
    },

    async close() {
      clearInterval(expiring)
      await writer.close()
    },
  }
}

/** The read-only part of a topic. */
export function topicReader<Entry>(
  database: Database,
  kind: TopicKind<Entry>,
  { commit, logger }: { commit: CommitTopic; logger: WarningLogger },
): Omit<Topic<Entry>, 'append' | 'remove'> & { appended(): void; stop(): Promise<void> } {
  const next = database.prepare<StoredRow>(
    `SELECT offset, key, value, headers FROM "${kind.name}" WHERE offset > ? AND offset <= ?
     ORDER BY offset LIMIT ${MAX_ENTRIES}`,
  )
  const committed = database.prepare<{ offset: number }>(
    'SELECT offset FROM committed WHERE topic = ? AND consumer_group = ?',
  )
  const end = database.prepare<{ last: number | null }>(
    `SELECT max(offset) AS last FROM "${kind.name}"`,
  )
  const count = database.prepare<{ count: number }>(`SELECT count(*) AS count FROM "${kind.name}"`)
  const readers = groupReaders({
    read,
    commit: (group, offset) => commit(kind.name, group, offset),
    logger,
  })

  return {
    async subscribe({ group, onBatch, signal }) {
      await readers.deliver({
        group,
        after: committed.get(kind.name, group)?.offset ?? 0,
        onBatch: async ({ entries }) => {
          if (entries.length > 0) await onBatch(entries)
        },
        signal,
      })
    },

    async *read() {
      const last = end.get()?.last ?? 0
      for (let batch = read(0, last); batch !== undefined; batch = read(batch.lastOffset, last)) {
        yield { entries: batch.entries, upTo: { partition: PARTITION, offset: batch.lastOffset } }
      }
    },

    count: async () => count.get()?.count ?? 0,

    appended: () => readers.appended(),

    stop: () => readers.stop(),
  }

  function read(after: number, upTo = Number.MAX_SAFE_INTEGER) {
    const rows = next.all(after, upTo)
    const last = rows.at(-1)
    return last && { lastOffset: last.offset, entries: rows.flatMap(parseRow) }
  }

  function parseRow({ offset, headers, ...bytes }: StoredRow): Entry[] {
    try {
      const record = { ...bytes, headers: JSON.parse(headers) as StoredRecord['headers'] }
      return [kind.fromRecord(record)]
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      logger.warn(
        { topic: kind.name, partition: PARTITION, offset, reason },
        'unreadable entry skipped',
      )
      return []
    }
  }
}

type Row = [
  id: string,
  time: number,
  key: Uint8Array | null,
  value: Uint8Array | null,
  headers: string,
]

type StoredRow = {
  readonly offset: number
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: string
}

function toRow({ id, key, value, event, headers = {} }: TopicRecord, now: number): Row {
  return [id, event?.time ?? now, bytesOf(key), bytesOf(value), JSON.stringify(headers)]
}

function bytesOf(content: string | Uint8Array | null): Uint8Array | null {
  return typeof content === 'string' ? Buffer.from(content) : content
}
