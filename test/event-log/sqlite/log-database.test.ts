import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { openLogDatabase } from '../../../event-log/sqlite/log-database.ts'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { recordId } from '../../contracts/event-log-suite.ts'
import { positionReported } from '../../samples.ts'
import { logFilesForEachTest, readAll } from './log-files.ts'

const files = logFilesForEachTest()

test('the file of a newer program is refused, and left as it is', async () => {
  await files.open().close()
  const database = new DatabaseSync(files.file)
  database.exec('PRAGMA user_version = 99')
  database.close()
  expect(() => files.open()).toThrow(/schema version 99.* a newer version/)
})

test('a file of the version that kept offsets loses them and nothing else', async () => {
  const event = positionReported()
  const before = files.open()
  await before.append([event])
  await before.close()
  const old = new DatabaseSync(files.file)
  old.exec(`CREATE TABLE committed (consumer_group TEXT PRIMARY KEY, offset INTEGER NOT NULL) STRICT;
    INSERT INTO committed VALUES ('projector', 1);
    ALTER TABLE events DROP COLUMN spooled;
    PRAGMA user_version = 2`)
  old.close()
  expect((await readAll(files.open())).map(recordId)).toEqual([event.recordId])
  const tables = openLogDatabase(files.file, { readOnly: true })
  expect(tables.prepare(`SELECT * FROM sqlite_schema WHERE name = 'committed'`).get()).toBe(
    undefined,
  )
  tables.close()
})

test('a file that is no database, or in a folder that is not there, is refused by name', () => {
  writeFileSync(files.file, 'minutes of the meeting '.repeat(100))
  expect(() => files.open()).toThrow(expect.objectContaining({ retriable: false }))
  const missing = join(files.folder, 'missing', 'log.sqlite')
  expect(() => openSqliteEventLog({ file: missing, clock: files.clock })).toThrow(missing)
})
