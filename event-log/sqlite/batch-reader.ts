import { isUtf8 } from 'node:buffer'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import {
  decodePositionReported,
  POSITION_REPORTED,
  UndecodableEventError,
} from '../../schemas/position-reported.ts'
import type { LogBatch, LogEntry } from '../event-log.ts'

/** A log in one file has one partition. */
export const PARTITION = 0

const MAX_ENTRIES = 500

/** Reads the entries next after an offset; undefined where there are none (yet). */
export type BatchReader = (after: number) => LogBatch | undefined

export function batchReader(database: DatabaseSyncInstance): BatchReader {
  const selectNext = database.prepare(
    'SELECT offset, type, value FROM events WHERE offset > ? ORDER BY offset LIMIT ?',
  )
  // Only unreadable entries need their key, and with its bytes untouched.
  const selectKey = database.prepare('SELECT CAST(key AS BLOB) AS key FROM events WHERE offset = ?')

  return (after) => {
    const rows = selectNext.all(after, MAX_ENTRIES) as Row[]
    const last = rows.at(-1)
    if (last === undefined) return undefined
    return { partition: PARTITION, lastOffset: last.offset, entries: rows.map(entry) }
  }

  function entry({ offset, type, value }: Row): LogEntry {
    const origin = { partition: PARTITION, offset }
    try {
      if (type !== POSITION_REPORTED) throw new UndecodableEventError(`unknown type ${type}`)
      return { kind: 'position', origin, event: decodePositionReported(textOf(value)) }
    } catch (error) {
      // Whatever went wrong with this one, those behind it must not wait for it.
      const reason = error instanceof Error ? error.message : String(error)
      const { key } = selectKey.get(offset) as { key: Uint8Array }
      return { kind: 'unreadable', origin, reason, key, value }
    }
  }
}

type Row = {
  readonly offset: number
  readonly type: string
  readonly value: Uint8Array | null
}

function textOf(value: Uint8Array | null): string {
  if (value === null) throw new UndecodableEventError('there is no value')
  if (!isUtf8(value)) throw new UndecodableEventError('the value is not UTF-8')
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
}
