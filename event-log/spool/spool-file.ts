import { DependencyError } from '../../runtime/errors.ts'
import { Database } from '../../runtime/sqlite/database.ts'
import { utf8 } from '../../schemas/event-fields.ts'
import type { SpoolDepth } from '../../schemas/instance-report.ts'
import { encodeEvent, isDeviceSeen, type AppendedEvent } from '../../schemas/appended-event.ts'
import { decodeDeviceSeen } from '../../schemas/device-seen.ts'
import { decodePositionReported } from '../../schemas/position-reported.ts'
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
  // The id of a heartbeat; the others are positions, which have theirs in the value.
  'ALTER TABLE waiting ADD COLUMN heartbeat_id TEXT;',
]

const MAX_ENTRIES = 500
/** More than a few appends need: a disk with room for just one page is full. */
const PROBE_BYTES = 32 * 1024
const PROBE_VALID_MS = 1000

export type SpoolLimits = { readonly maxBytes: number; readonly maxAgeSeconds: number }

/** Events that wait on this machine's disk for the log. */
export type SpoolFile = {
  /**
   * Resolves once the events are on disk, behind all earlier ones.
   * @throws {DependencyError} retriable: a limit is reached, or the disk is full or failing.
   */
  write(events: readonly AppendedEvent[]): Promise<void>
  /** Whether any events wait or are being written. */
  isEmpty(): boolean
  /** The oldest events; undefined while none are on disk. */
  next(): Waiting | undefined
  /** Removes the events up to a place. */
  remove(upTo: number): void
  depth(): SpoolDepth
  /** How much of the limits is used: 1 is full. */
  fill(): number
  /** @throws {DependencyError} when the disk takes no writes. */
  probe(): void
  /** Writes what is queued, then closes the file. */
  close(): Promise<void>
}

export type Waiting = {
  readonly events: readonly AppendedEvent[]
  readonly upTo: number
  /** Whether they are all that is on disk. */
  readonly isRest: boolean
}

/** @throws {DependencyError} when the file cannot be opened, or is of a newer version. */
export function openSpoolFile(
  file: string,
  { maxBytes, maxAgeSeconds, clock }: SpoolLimits & { readonly clock: { now(): number } },
): SpoolFile {
  const database = new Database(file, SCHEMA, { called: 'the spool' })
  const insert = database.prepare(
    'INSERT INTO waiting (received_at, value, heartbeat_id) VALUES (?, ?, ?)',
  )
  const oldest = database.prepare<Read>(
    'SELECT place, value, heartbeat_id AS heartbeatId FROM waiting ORDER BY place LIMIT ?',
  )
  const oldestTime = database.prepare<{ receivedAt: number }>(
    'SELECT received_at AS receivedAt FROM waiting ORDER BY place LIMIT 1',
  )
  const sum = database.prepare<{ events: number; bytes: number }>(
    `SELECT count(*) AS events, coalesce(sum(length(value)), 0) AS bytes FROM waiting
     WHERE place <= ?`,
  )
  const remove = database.prepare('DELETE FROM waiting WHERE place <= ?')
  const probe = database.prepare('REPLACE INTO probe VALUES (1, randomblob(?))')
  let held = 0
  let bytes = 0
  /** After a failure it is not known whether it was done all the same, until they are counted again. */
  let isCounted = false
  let queued = 0
  let queuedBytes = 0
  let probedAt = -Infinity

  count()

  const writer = gatheringWriter<Row>({
    async writeBatch(rows) {
      counting(() =>
        database.transaction(() => {
          for (const row of rows) insert.run(...row)
        }),
      )
      held += rows.length
      bytes += sizeOf(rows)
    },
  })

  function count(): void {
    const { events, bytes: size } = sumUpTo(Number.MAX_SAFE_INTEGER)
    ;[held, bytes, isCounted] = [events, size, true]
  }

  function sumUpTo(place: number): { events: number; bytes: number } {
    return sum.get(place) ?? { events: 0, bytes: 0 }
  }

  function counting(change: () => void): void {
    try {
      change()
    } catch (error) {
      isCounted = false
      try {
        count()
      } catch {
        // Whoever reads next counts.
      }
      throw error
    }
  }

  function oldestSeconds(): number {
    const first = held === 0 ? undefined : oldestTime.get()
    return first === undefined ? 0 : Math.max(0, (clock.now() - first.receivedAt) / 1000)
  }

  return {
    async write(events) {
      const rows = events.map(toRow)
      const more = sizeOf(rows)
      if (bytes + queuedBytes + more > maxBytes || oldestSeconds() > maxAgeSeconds) {
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
      const rows = oldest.all(MAX_ENTRIES)
      const last = rows.at(-1)
      if (last === undefined) return undefined
      const events = rows.map(read)
      return { events, upTo: last.place, isRest: rows.length < MAX_ENTRIES }
    },

    remove(upTo) {
      const removed = sumUpTo(upTo)
      counting(() => remove.run(upTo))
      held -= removed.events
      bytes -= removed.bytes
    },

    depth: () => ({ events: held, bytes, oldestSeconds: oldestSeconds() }),

    fill: () => Math.max(bytes / maxBytes, oldestSeconds() / maxAgeSeconds),

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
