import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { DependencyError } from '../../runtime/errors.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import {
  checkDeviceErased,
  DEVICE_ERASED,
  type DeviceErased,
} from '../../schemas/events/device-erased.ts'
import {
  encodeEvent,
  eventIdOf,
  eventTypeOf,
  type AppendedEvent,
} from '../../schemas/events/appended-event.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { EventLog } from '../event-log.ts'
import { gatheringWriter } from '../gathering-writer.ts'
import { type TopicName, REJECTIONS } from '../topic.ts'
import { DEAD_LETTERS, sqliteTopicWriter, type CommitTopic } from './topic.ts'

const PROBE_VALID_MS = 1000
/** More than a few appends need, so that a disk with room for only one page counts as full. */
const PROBE_BYTES = 32 * 1024
/** Rows per transaction of `trim`, so that appends are delayed only briefly. */
const TRIM_CHUNK = 1000

/** The writing part of the log: for one thread, so that no other delays an append. */
export type SqliteLogWriter = Pick<
  EventLog,
  'append' | 'erase' | 'replay' | 'trim' | 'ready' | 'close'
> & {
  readonly [Topic in 'rejections' | 'deadLetters']: Pick<EventLog[Topic], 'append' | 'remove'>
} & { readonly commitTopic: CommitTopic }

/** Writes the log on an open database, which the caller closes. */
export function sqliteLogWriter(
  database: Database,
  {
    clock,
    onAppended,
    onTopicAppended,
    expireEveryMs,
  }: {
    clock: { now(): number }
    /** Called when there are new events. */
    onAppended: () => void
    onTopicAppended: (topic: TopicName) => void
    /**
     * How often a topic's old entries are removed when nothing is appended; by default every 10
     * minutes.
     */
    expireEveryMs?: number | undefined
  },
): SqliteLogWriter {
  const statements = prepare(database)
  let closing = false
  let probe: { readonly at: number; readonly outcome: Promise<void> } | undefined
  /** When the disk took the last write; -Infinity: it refused it. */
  let writtenAt = -Infinity

  const writer = gatheringWriter<Row>({
    keyOf: ([key]) => key,
    async writeBatch(rows) {
      write(() => {
        for (const row of rows) statements.insert.execute(...row)
      })
      onAppended()
    },
  })
  const onTopic = { clock, onAppended: onTopicAppended, expireEveryMs }
  const rejections = sqliteTopicWriter(database, REJECTIONS, onTopic)
  const deadLetters = sqliteTopicWriter(database, DEAD_LETTERS, onTopic)

  return {
    async append(events, { spooled = false } = {}) {
      // Encoded before it is queued: an unencodable event must not fail other callers' batches.
      const rows = events.map((event) => toRow(event, spooled))
      await writer.write(
        rows,
        rows.reduce((sum, row) => sum + sizeOf(row), 0),
      )
    },

    async erase(event) {
      const row = toErasureRow(event)
      await writer.write([row], sizeOf(row))
    },

    rejections,
    deadLetters,

    async commitTopic(topic, group, offset) {
      statements.commitTopic.run(topic, group, offset)
    },

    async replay(letters) {
      database.transaction(() => {
        for (const { kept } of letters) statements.appendAgain.run(kept.origin.offset)
      })
      onAppended()
    },

    async trim(receivedBefore, signal) {
      let chunk
      do {
        chunk = statements.oldest.all(TRIM_CHUNK)
        const stays = chunk.findIndex(({ receivedAt }) => receivedAt >= receivedBefore)
        // Only events before the first one to keep: a gap in the middle of the log would go
        // unnoticed.
        if (stays !== -1) chunk = chunk.slice(0, stays)
        const last = chunk.at(-1)
        if (last === undefined) return
        database.transaction(() => {
          statements.moveTrimMark.run(last.offset)
          statements.deleteTrimmed.run()
          statements.deleteTrimmedDeadLetters.run()
        })
        await endOfTurn()
      } while (chunk.length === TRIM_CHUNK && signal?.aborted !== true)
    },

    ready({ writtenWithinMs = 0 } = {}) {
      const now = clock.now()
      if (!closing && writtenAt <= now && now < writtenAt + writtenWithinMs) {
        return Promise.resolve()
      }
      // A probe from the future: the clock was set back, perhaps by a lot.
      const fresh = probe !== undefined && probe.at <= now && now < probe.at + PROBE_VALID_MS
      const current = fresh && !closing ? probe : undefined
      probe = current ?? { at: now, outcome: tryToWrite() }
      return probe.outcome
    },

    async close() {
      closing = true
      await Promise.all([writer, rejections, deadLetters].map((one) => one.close()))
    },
  }

  async function tryToWrite() {
    if (closing) throw new DependencyError('the event log is closing', { retriable: true })
    write(() => {
      // Deleted by the next probe: a row deleted in its own transaction need not reach the disk.
      statements.writeProbe.run(PROBE_BYTES)
      statements.deleteOldProbes.run()
    })
  }

  function write(change: () => void): void {
    writtenAt = -Infinity
    database.transaction(change)
    writtenAt = clock.now()
  }
}

/** Approximate size of a row apart from its value. */
const ROW_OVERHEAD_BYTES = 128

type Row = [
  key: string,
  type: string,
  id: string,
  receivedAt: number,
  value: string | null,
  spooled: 0 | 1,
]

function toRow(event: AppendedEvent, spooled: boolean): Row {
  return [
    deviceKey(event),
    eventTypeOf(event),
    eventIdOf(event),
    event.receivedAt,
    encodeEvent(event),
    spooled ? 1 : 0,
  ]
}

/**
 * An erasure has the device's key and no value. It is checked here, because an invalid erasure
 * would be unreadable.
 */
function toErasureRow(event: DeviceErased): Row {
  const { eventId, erasedAt } = checkDeviceErased(event)
  return [deviceKey(event), DEVICE_ERASED, eventId, erasedAt, null, 0]
}

function sizeOf([key, , , , value]: Row): number {
  return ROW_OVERHEAD_BYTES + Buffer.byteLength(value ?? key)
}

function prepare(database: Database) {
  return {
    // Casting text to a blob in SQLite is faster here than creating a buffer.
    insert: database.prepare(
      `INSERT INTO events (key, type, id, received_at, value, spooled)
       VALUES (?, ?, ?, ?, CAST(? AS BLOB), ?)`,
    ),
    oldest: database.prepare<{ offset: number; receivedAt: number }>(
      'SELECT offset, received_at AS receivedAt FROM events ORDER BY offset LIMIT ?',
    ),
    /** A dead letter's event stays in the log as long as the letter exists. */
    appendAgain: database.prepare(
      `INSERT INTO events (key, type, id, received_at, value, spooled)
       SELECT key, type, id, received_at, value, spooled FROM events WHERE offset = ?`,
    ),
    commitTopic: database.prepare(
      `INSERT INTO committed (topic, consumer_group, offset) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET offset = excluded.offset`,
    ),
    moveTrimMark: database.prepare('UPDATE trimmed SET up_to = max(up_to, ?)'),
    deleteTrimmed: database.prepare(
      'DELETE FROM events WHERE offset <= (SELECT up_to FROM trimmed)',
    ),
    deleteTrimmedDeadLetters: database.prepare(
      `DELETE FROM "${DEAD_LETTERS.name}"
       WHERE CAST(headers ->> 'offset' AS INTEGER) <= (SELECT up_to FROM trimmed)`,
    ),
    writeProbe: database.prepare('INSERT INTO probe (filler) VALUES (randomblob(?))'),
    deleteOldProbes: database.prepare('DELETE FROM probe WHERE write < last_insert_rowid()'),
  }
}
