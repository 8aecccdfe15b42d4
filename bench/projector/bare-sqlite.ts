import { DatabaseSync } from '@photostructure/sqlite'
import type { DeviceStatus, PositionRecord } from '../../schemas/devices/read-models.ts'
import { MEASUREMENTS, type Measurements } from '../../schemas/report/report-fields.ts'
import type { Projected } from './project.ts'
import { stopwatch, type Speed } from './speed.ts'

/** The documents of one batch, as passed to the store. */
export type Documents = {
  readonly records: readonly PositionRecord[]
  readonly statuses: readonly DeviceStatus[]
  readonly partition: number
  readonly lastOffset: number
}

/** The documents that the store has written for a batch. */
export function documentsOf({ batch, changes }: Projected): Documents {
  const { partition, lastOffset, entries } = batch
  return {
    partition,
    lastOffset,
    records: entries.flatMap((entry) =>
      entry.kind === 'position' ? [{ ...entry.event, origin: entry.origin }] : [],
    ),
    statuses: changes.flatMap(({ after }) => after ?? []),
  }
}

/**
 * Writes the documents with the driver alone, one transaction a batch, into tables like those of
 * the file `like`.
 */
export function writeDocuments(batches: readonly Documents[], file: string, like: string): Speed {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  for (const sql of schemaOf(like)) database.exec(sql)
  const record = database.prepare(`INSERT INTO records VALUES (${places(18)})`)
  const status = database.prepare(
    `INSERT INTO device_statuses VALUES (${places(27)}) ON CONFLICT (number) DO UPDATE SET
       last_seen_at = excluded.last_seen_at,
       last_received_at = excluded.last_received_at, report_count = excluded.report_count,
       record_id = excluded.record_id, latitude = excluded.latitude,
       longitude = excluded.longitude, timestamp = excluded.timestamp,
       received_at = excluded.received_at, applied = excluded.applied,
       ${MEASUREMENTS.map((name) => `${name} = excluded.${name}`).join(', ')},
       last_partition = excluded.last_partition, last_offset = excluded.last_offset`,
  )
  const checkpoint = database.prepare(`REPLACE INTO checkpoints VALUES (${places(5)})`)
  const numbers = new Map<string, number>()
  const numberOf = (deviceId: string) => {
    const known = numbers.get(deviceId)
    if (known !== undefined) return known
    numbers.set(deviceId, numbers.size + 1)
    return numbers.size
  }
  const watch = stopwatch()
  for (const { records, statuses, partition, lastOffset } of batches) {
    database.exec('BEGIN IMMEDIATE')
    for (const r of records) {
      record.run(
        1,
        numberOf(r.deviceId),
        r.recordId,
        r.keyId,
        r.latitude,
        r.longitude,
        r.timestamp,
        r.timestampSource,
        r.receivedAt,
        r.origin.partition,
        r.origin.offset,
        ...optional(r),
      )
    }
    for (const s of statuses) {
      const last = s.lastPosition
      status.run(
        numberOf(s.deviceId),
        s.accountId,
        s.deviceId,
        s.lastKeyId,
        s.firstSeenAt,
        s.lastSeenAt,
        s.lastReceivedAt,
        s.reportCount,
        last.recordId,
        last.latitude,
        last.longitude,
        last.timestamp,
        last.receivedAt,
        JSON.stringify(s.applied),
        s.heartbeats === undefined ? null : JSON.stringify(s.heartbeats),
        null,
        ...optional(last),
        s.lastOrigin?.partition ?? null,
        s.lastOrigin?.offset ?? null,
        ...[null, null],
      )
    }
    checkpoint.run(partition, lastOffset, lastOffset, records.at(-1)?.recordId ?? null, 1)
    database.exec('COMMIT')
    watch.count(records.length)
  }
  database.close()
  return watch.read()
}

/** The measurements; no event of the bench has attributes or is imported. */
function optional(from: Measurements): (number | null)[] {
  return [...MEASUREMENTS.map((name) => from[name] ?? null), null, null]
}

function places(count: number): string {
  return Array.from({ length: count }, () => '?').join(', ')
}

/** Tables and indexes of another file, as SQL. */
function schemaOf(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database
    .prepare(`SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid`)
    .all() as { sql: string }[]
  database.close()
  return rows.map(({ sql }) => sql)
}
