import type { Database } from '../../runtime/sqlite/database.ts'
import { decodeDeviceErased, DEVICE_ERASED } from '../../schemas/events/device-erased.ts'
import { decodeDeviceSeen, DEVICE_SEEN } from '../../schemas/events/device-seen.ts'
import { utf8 } from '../../schemas/events/event-fields.ts'
import {
  decodePositionReported,
  POSITION_REPORTED,
} from '../../schemas/events/position-reported.ts'
import type { LogBatch, LogEntry } from '../event-log.ts'

/** A log in one file has one partition. */
export const PARTITION = 0

const MAX_ENTRIES = 500

/** Reads the next entries after an offset; undefined if there are none yet. */
export type BatchReader = (after: number) => LogBatch | undefined

export function batchReader(database: Database): BatchReader {
  // Only the columns that a position needs, and its value as text, which ends at U+0000 and has
  // U+FFFD for invalid bytes: this takes 2.6 µs of CPU per entry, against 4.5 µs with everything as
  // bytes.
  const selectNext = database.prepare<Row>(
    `SELECT offset, spooled, length(value),
       CASE type WHEN '${POSITION_REPORTED}' THEN CAST(value AS TEXT) END
     FROM events WHERE offset > ? ORDER BY offset LIMIT ?`,
    { asArrays: true },
  )
  const selectWhole = database.prepare<WholeRow>(
    `SELECT type, id, received_at AS receivedAt, CAST(key AS BLOB) AS key, value
     FROM events WHERE offset = ?`,
  )

  return (after) => {
    const rows = selectNext.all(after, MAX_ENTRIES)
    const last = rows.at(-1)
    if (last === undefined) return undefined
    return { partition: PARTITION, after, lastOffset: last[0], entries: rows.map(entry) }
  }

  function entry([offset, spooled, bytes, json]: Row): LogEntry {
    if (json === null || !isWhole(json, bytes)) return readWholeEntry(offset, spooled)
    try {
      return position(offset, json, spooled)
    } catch {
      return readWholeEntry(offset, spooled)
    }
  }

  function readWholeEntry(offset: number, spooled: number): LogEntry {
    const origin = { partition: PARTITION, offset }
    const { type, id, receivedAt, key, value } = selectWhole.get(offset) as WholeRow
    try {
      if (type === DEVICE_ERASED) {
        const erasure = { key, value, eventId: id, erasedAt: receivedAt }
        return { kind: 'erasure', origin, event: decodeDeviceErased(erasure) }
      }
      if (type === DEVICE_SEEN) {
        const event = decodeDeviceSeen(utf8(value, 'value'), id)
        return { kind: 'seen', origin, event, ...(spooled === 1 && { spooled: true }) }
      }
      if (type !== POSITION_REPORTED) return { kind: 'unknown', origin, type }
      return position(offset, utf8(value, 'value'), spooled)
    } catch (error) {
      // No failure of this entry may block later entries.
      const reason = error instanceof Error ? error.message : String(error)
      return { kind: 'unreadable', origin, reason, key, value }
    }
  }
}

/** Whether a text contains all bytes of the value. */
function isWhole(json: string, bytes: number | null): boolean {
  return (json.length === bytes || Buffer.byteLength(json) === bytes) && !json.includes('\uFFFD')
}

function position(offset: number, json: string, spooled: number): LogEntry {
  const origin = { partition: PARTITION, offset }
  const event = decodePositionReported(json)
  return spooled === 1
    ? { kind: 'position', origin, event, spooled: true }
    : { kind: 'position', origin, event }
}

type Row = readonly [offset: number, spooled: number, bytes: number | null, json: string | null]

type WholeRow = {
  readonly type: string
  readonly id: string
  readonly receivedAt: number
  readonly key: Uint8Array
  readonly value: Uint8Array | null
}
