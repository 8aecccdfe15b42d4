import { DatabaseSync } from '@photostructure/sqlite'
import type { DeviceStatus, PositionRecord } from '../../schemas/read-models.ts'
import type { Projected } from './project.ts'
import { stopwatch, type Speed } from './speed.ts'

/** The documents of one batch, as the store is given them. */
export type Documents = {
  readonly records: readonly PositionRecord[]
  readonly statuses: readonly DeviceStatus[]
  readonly partition: number
  readonly lastOffset: number
}

/** What the store has written for a batch. */
export function documentsOf({ batch, changes }: Projected): Documents {
  const { partition, lastOffset, entries } = batch
  return {
    ...{ partition, lastOffset },
    records: entries.flatMap((entry) =>
      entry.kind === 'position' ? [{ ...entry.event, origin: entry.origin }] : [],
    ),
    statuses: changes.flatMap(({ after }) => after ?? []),
  }
}

/**
 * Writes the documents with nothing but the driver, one transaction a batch, into tables like those of
 * the file `like`.
 */
export function writeDocuments(batches: readonly Documents[], file: string, like: string): Speed {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  for (const sql of schemaOf(like)) database.exec(sql)
  const record = database.prepare(`INSERT INTO records VALUES (${places(16)})`)
  const status = database.prepare(`REPLACE INTO device_statuses VALUES (${places(10)})`)
  const checkpoint = database.prepare(`REPLACE INTO checkpoints VALUES (${places(4)})`)
  const watch = stopwatch()
  for (const { records, statuses, partition, lastOffset } of batches) {
    database.exec('BEGIN IMMEDIATE')
    for (const r of records) {
      record.run(
        r.accountId,
        r.recordId,
        r.deviceId,
        r.keyId,
        r.latitude,
        r.longitude,
        r.timestamp,
        r.timestampSource,
        r.receivedAt,
        r.accuracy ?? null,
        r.altitude ?? null,
        r.speed ?? null,
        r.heading ?? null,
        r.battery ?? null,
        r.origin.partition,
        r.origin.offset,
      )
    }
    for (const s of statuses) {
      const { latitude, longitude } = s.lastPosition
      status.run(
        s.accountId,
        s.deviceId,
        s.firstSeenAt,
        s.lastSeenAt,
        s.reportCount,
        JSON.stringify(s.lastPosition),
        JSON.stringify(s.applied),
        latitude,
        longitude,
        s.heartbeats === undefined ? null : JSON.stringify(s.heartbeats),
      )
    }
    checkpoint.run(partition, lastOffset, lastOffset, records.at(-1)?.recordId ?? null)
    database.exec('COMMIT')
    watch.count(records.length)
  }
  database.close()
  return watch.read()
}

function places(count: number): string {
  return Array.from({ length: count }, () => '?').join(', ')
}

/** Tables and indexes of another file, as SQL. */
function schemaOf(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database
    .prepare('SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid')
    .all() as { sql: string }[]
  database.close()
  return rows.map(({ sql }) => sql)
}
