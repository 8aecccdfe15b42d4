import { randomBytes } from 'node:crypto'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { DependencyError } from '../../runtime/errors.ts'
import { Database } from '../../runtime/sqlite/database.ts'
import { isFull } from '../../runtime/sqlite/sqlite-errors.ts'
import { utf8 } from '../../schemas/events/event-fields.ts'
import type { SpoolDepth } from '../../schemas/instance-report.ts'
import {
  encodeEvent,
  isDeviceSeen,
  type AppendedEvent,
} from '../../schemas/events/appended-event.ts'
import { decodeDeviceSeen } from '../../schemas/events/device-seen.ts'
import { decodePositionReported } from '../../schemas/events/position-reported.ts'
import { gatheringWriter } from '../gathering-writer.ts'

const SCHEMA = [
  `
  -- AUTOINCREMENT: a place is never given twice, so none that is new can be removed by an old one.
  CREATE TABLE waiting (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    received_at INTEGER NOT NULL,
    value BLOB NOT NULL
  ) STRICT;
  CREATE TABLE probe (one INTEGER PRIMARY KEY CHECK (one = 1), filler BLOB NOT NULL) STRICT;
  `,
  // The id of a heartbeat; all other events are positions, whose value contains the id.
  'ALTER TABLE waiting ADD COLUMN heartbeat_id TEXT;',
]

/** It may hold the only copy of reports that got 200. */
const IF_DAMAGED =
  'move it away, start again, and keep it: reports that it holds can be read with `sqlite3 FILE .recover`'

const MAX_ENTRIES = 500
/** More than a few appends need, so that a disk with room for only one page counts as full. */
const PROBE_BYTES = 32 * 1024
const PROBE_VALID_MS = 1000
/**
 * Removing events also writes: to the write-ahead log, and from there to the file, which may grow.
 */
const BALLAST_BYTES = 8 * 1024 * 1024

export type SpoolLimits = { readonly maxBytes: number; readonly maxAgeSeconds: number }

/** Events on this machine's disk, waiting for the log. */
export type SpoolFile = {
  /**
   * Resolves once the events are on disk, after all earlier ones.
   * @throws {DependencyError} retriable: a limit is reached, or the disk is full or failing.
   */
  write(events: readonly AppendedEvent[]): Promise<void>
  /** Whether any events wait or are being written. */
  isEmpty(): boolean
  /** Returns the oldest events; undefined while the file is empty. */
  next(): Waiting | undefined
  /**
   * Removes the events up to an id. Even if it throws, they are no longer returned or counted while
   * the file is open.
   */
  remove(upTo: number): void
  depth(): SpoolDepth
  /** The fraction of the limits in use: 1 is full. */
  fill(): number
  /** @throws {DependencyError} when the disk accepts no writes. */
  probe(): void
  /** Writes queued events, then closes the file. */
  close(): Promise<void>
}

export type Waiting = {
  readonly events: readonly AppendedEvent[]
  readonly upTo: number
  /** Whether the disk has no further events. */
  readonly isRest: boolean
}

/** @throws {DependencyError} when the file cannot be opened, or was written by a newer version. */
export function openSpoolFile(
  file: string,
  { maxBytes, maxAgeSeconds, clock }: SpoolLimits & { readonly clock: { now(): number } },
): SpoolFile {
  const database = new Database(file, SCHEMA, { called: 'the spool', ifDamaged: IF_DAMAGED })
  const insert = database.prepare(
    'INSERT INTO waiting (received_at, value, heartbeat_id) VALUES (?, ?, ?)',
  )
  const oldest = database.prepare<Read>(
    `SELECT place, value, heartbeat_id AS heartbeatId FROM waiting WHERE place > ?
     ORDER BY place LIMIT ?`,
  )
  const oldestTime = database.prepare<{ receivedAt: number }>(
    'SELECT received_at AS receivedAt FROM waiting WHERE place > ? ORDER BY place LIMIT 1',
  )
  const sum = database.prepare<{ events: number; bytes: number }>(
    `SELECT count(*) AS events, coalesce(sum(length(value)), 0) AS bytes FROM waiting
     WHERE place > ? AND place <= ?`,
  )
  const remove = database.prepare('DELETE FROM waiting WHERE place <= ?')
  const ballast = `${file}.ballast`
  const probe = database.prepare('REPLACE INTO probe VALUES (1, randomblob(?))')
  /** The log has confirmed all events up to here, whether or not they could be removed. */
  let confirmed = 0
  let held = 0
  let bytes = 0
  /**
   * False after a failed statement, which may still have taken effect, until the events are counted
   * again.
   */
  let isCounted = false
  let queued = 0
  let queuedBytes = 0
  let probedAt = -Infinity

  count()
  keepBallast()

  const writer = gatheringWriter<Row>({
    async writeBatch(rows) {
      try {
        database.transaction(() => {
          for (const row of rows) insert.run(...row)
        })
      } catch (error) {
        isCounted = false
        try {
          count()
        } catch {
          // `next` recounts.
        }
        throw error
      }
      held += rows.length
      bytes += sizeOf(rows)
    },
  })

  function count(): void {
    const { events, bytes: size } = sumUpTo(Number.MAX_SAFE_INTEGER)
    ;[held, bytes, isCounted] = [events, size, true]
  }

  function sumUpTo(place: number): { events: number; bytes: number } {
    return sum.get(confirmed, place) ?? { events: 0, bytes: 0 }
  }

  /** Reserves space that is freed on a full disk, so that events can be removed. */
  function keepBallast(): void {
    if (statSync(ballast, { throwIfNoEntry: false })?.size === BALLAST_BYTES) return
    try {
      if (held === 0) database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
      // Random, because a file system may compress.
      writeFileSync(ballast, randomBytes(BALLAST_BYTES))
    } catch {
      // The disk is still too full; retried when the spool is next empty.
      rmSync(ballast, { force: true })
    }
  }

  function ageOfOldest(): number {
    const first = held === 0 ? undefined : oldestTime.get(confirmed)
    return first === undefined ? 0 : Math.max(0, (clock.now() - first.receivedAt) / 1000)
  }

  return {
    async write(events) {
      const rows = events.map(toRow)
      const more = sizeOf(rows)
      if (bytes + queuedBytes + more > maxBytes || ageOfOldest() > maxAgeSeconds) {
        throw new DependencyError('the spool is full', { retriable: true })
      }
      queued += rows.length
      queuedBytes += more
      try {
        await writer.write(rows, more)
      } finally {
        queued -= rows.length
        queuedBytes -= more
      }
    },

    isEmpty: () => isCounted && held + queued === 0,

    next() {
      if (!isCounted) count()
      const rows = oldest.all(confirmed, MAX_ENTRIES)
      const last = rows.at(-1)
      if (last === undefined) return undefined
      const events = rows.map(read)
      return { events, upTo: last.place, isRest: rows.length < MAX_ENTRIES }
    },

    remove(upTo) {
      const removed = sumUpTo(upTo)
      confirmed = upTo
      held -= removed.events
      bytes -= removed.bytes
      try {
        remove.run(upTo)
      } catch (error) {
        if (!isFull(error)) throw error
        rmSync(ballast, { force: true })
        remove.run(upTo)
      }
      if (held === 0) keepBallast()
    },

    depth: () => ({ events: held, bytes, oldestSeconds: ageOfOldest() }),

    fill: () => Math.max(bytes / maxBytes, ageOfOldest() / maxAgeSeconds),

    probe() {
      const now = performance.now()
      if (now - probedAt < PROBE_VALID_MS) return
      probe.run(PROBE_BYTES)
      probedAt = now
    },

    async close() {
      await writer.close()
      database.close()
    },
  }
}

type Row = [receivedAt: number, value: Uint8Array, heartbeatId: string | null]

type Read = {
  readonly place: number
  readonly value: Uint8Array
  readonly heartbeatId: string | null
}

function toRow(event: AppendedEvent): Row {
  const value = Buffer.from(encodeEvent(event))
  return [event.receivedAt, value, isDeviceSeen(event) ? event.eventId : null]
}

function read({ value, heartbeatId }: Read): AppendedEvent {
  const json = utf8(value, 'value')
  return heartbeatId === null ? decodePositionReported(json) : decodeDeviceSeen(json, heartbeatId)
}

function sizeOf(rows: readonly Row[]): number {
  return rows.reduce((total, [, value]) => total + value.byteLength, 0)
}
