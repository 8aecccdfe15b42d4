import type { Database } from '../../runtime/sqlite/database.ts'
import { decodeDeviceErased, DEVICE_ERASED } from '../../schemas/device-erased.ts'
import { utf8 } from '../../schemas/event-fields.ts'
import { decodePositionReported, POSITION_REPORTED } from '../../schemas/position-reported.ts'
import type { LogBatch, LogEntry } from '../event-log.ts'

/** A log in one file has one partition. */
export const PARTITION = 0

const MAX_ENTRIES = 500

/** Reads the next entries after an offset; undefined when there are none yet. */
export type BatchReader = (after: number) => LogBatch | undefined

export function batchReader(database: Database): BatchReader {
  const selectNext = database.prepare<Row>(
    `SELECT offset, type, id, received_at AS receivedAt, value, spooled FROM events
     WHERE offset > ? ORDER BY offset LIMIT ?`,
  )
  // Positions need no key; for the others it is read as raw bytes.
  const selectKey = database.prepare<{ key: Uint8Array }>(
    'SELECT CAST(key AS BLOB) AS key FROM events WHERE offset = ?',
  )

  return (after) => {
    const rows = selectNext.all(after, MAX_ENTRIES)
    const last = rows.at(-1)
    if (last === undefined) return undefined
    return { partition: PARTITION, lastOffset: last.offset, entries: rows.map(entry) }
  }

  function entry({ offset, type, id, receivedAt, value, spooled }: Row): LogEntry {
    const origin = { partition: PARTITION, offset }
    try {
      if (type === DEVICE_ERASED) {
        const erasure = { key: keyOf(offset), value, eventId: id, erasedAt: receivedAt }
        return { kind: 'erasure', origin, event: decodeDeviceErased(erasure) }
      }
      if (type !== POSITION_REPORTED) return { kind: 'unknown', origin, type }
      const event = decodePositionReported(utf8(value, 'value'))
      return { kind: 'position', origin, event, ...(spooled === 1 && { spooled: true }) }
    } catch (error) {
      // Whatever the failure, this entry must not hold up those behind it.
      const reason = error instanceof Error ? error.message : String(error)
      return { kind: 'unreadable', origin, reason, key: keyOf(offset), value }
    }
  }

  function keyOf(offset: number): Uint8Array {
    return selectKey.get(offset)?.key ?? Buffer.alloc(0)
  }
}

type Row = {
  readonly offset: number
  readonly type: string
  readonly id: string
  readonly receivedAt: number
  readonly value: Uint8Array | null
  readonly spooled: number
}
