import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { stopwatch, type Speed } from './speed.ts'

type Row = Readonly<Record<string, number | string | null>>

/** A status names its device once; an update leaves these as they are. */
const OF_DEVICE = ['number', 'account_id', 'device_id', 'last_key_id', 'first_seen_at']

/**
 * Writes what a projector has written into a store in `directory` with the driver alone, into a file with the same
 * tables and indexes: one transaction a batch with its records and the statuses of their devices. `batches`: their sizes.
 */
export function writeSqliteAgain(directory: string, batches: readonly number[]): Speed {
  const source = new DatabaseSync(join(directory, 'read-models-1.sqlite'), { readOnly: true })
  const read = (sql: string) => source.prepare(sql).all() as Row[]
  const records = read('SELECT * FROM records ORDER BY rowid')
  const statuses = new Map(read('SELECT * FROM device_statuses').map((row) => [row['number'], row]))
  const database = new DatabaseSync(join(directory, 'bare.sqlite'))
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  const schema = read(`SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid`)
  for (const { sql } of schema) database.exec(String(sql))
  const columns = Object.keys(statuses.values().next().value ?? {})
  const changed = columns.filter((name) => !OF_DEVICE.includes(name))
  const insertRecord = database.prepare(insertInto('records', Object.keys(records[0] ?? {})))
  const insertStatus = database.prepare(
    `${insertInto('device_statuses', columns)} ON CONFLICT (number) DO UPDATE SET
       ${changed.map((name) => `${name} = excluded.${name}`).join(', ')}`,
  )
  const checkpoint = database.prepare('REPLACE INTO checkpoints VALUES (?, ?, ?, ?, 1)')
  const watch = stopwatch()
  let at = 0
  for (const size of batches) {
    const batch = records.slice(at, (at += size))
    database.exec('BEGIN IMMEDIATE')
    for (const record of batch) insertRecord.run(...Object.values(record))
    for (const device of new Set(batch.map((record) => record['device']))) {
      insertStatus.run(...Object.values(statuses.get(device) ?? {}))
    }
    checkpoint.run(0, at, at, batch.at(-1)?.['record_id'] ?? null)
    database.exec('COMMIT')
    watch.count(size)
  }
  database.close()
  source.close()
  return watch.read()
}

function insertInto(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`
}
