import { DatabaseSync } from '@photostructure/sqlite'
import type { Projected } from './project.ts'
import { stopwatch, type Speed } from './speed.ts'

type Value = string | number | null

/** The rows of one batch: values in the order of the columns. */
export type Rows = {
  readonly records: readonly (readonly Value[])[]
  readonly statuses: readonly (readonly Value[])[]
  readonly checkpoint: readonly Value[]
}

/** The rows that the store has written for a batch. */
export function rowsOf({ batch, changes }: Projected): Rows {
  const last = batch.entries.at(-1)
  return {
    records: batch.entries.flatMap((entry) => {
      if (entry.kind !== 'position') return []
      const { event: e, origin } = entry
      return [
        [
          ...[e.accountId, e.recordId, e.deviceId, e.keyId, e.latitude, e.longitude],
          ...[e.timestamp, e.timestampSource, e.receivedAt, e.accuracy ?? null],
          ...[e.altitude ?? null, e.speed ?? null, e.heading ?? null, e.battery ?? null],
          ...[origin.partition, origin.offset],
        ],
      ]
    }),
    statuses: changes.flatMap(({ after: s }) =>
      s === undefined
        ? []
        : [
            [
              ...[s.accountId, s.deviceId, s.firstSeenAt, s.lastSeenAt, s.reportCount],
              ...[JSON.stringify(s.lastPosition), JSON.stringify(s.applied)],
              ...[s.lastPosition.latitude, s.lastPosition.longitude],
            ],
          ],
    ),
    checkpoint: [
      ...[batch.partition, batch.lastOffset, last?.origin.offset ?? 0],
      last?.kind === 'position' ? last.event.recordId : '',
    ],
  }
}

/** Writes the rows with nothing but the driver, one transaction a batch, into tables like those of `like`. */
export function writeRows(batches: readonly Rows[], file: string, like: string): Speed {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  for (const sql of schemaOf(like)) database.exec(sql)
  const record = database.prepare(insertInto('records', batches[0]?.records[0]))
  const status = database.prepare(insertInto('device_statuses', batches[0]?.statuses[0]))
  const checkpoint = database.prepare(insertInto('checkpoints', batches[0]?.checkpoint))
  const watch = stopwatch()
  for (const { records, statuses, ...batch } of batches) {
    database.exec('BEGIN IMMEDIATE')
    for (const row of records) record.run(...row)
    for (const row of statuses) status.run(...row)
    checkpoint.run(...batch.checkpoint)
    database.exec('COMMIT')
    watch.count(records.length)
  }
  database.close()
  return watch.read()
}

function insertInto(table: string, row: readonly unknown[] = []): string {
  return `REPLACE INTO ${table} VALUES (${row.map(() => '?').join(', ')})`
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
