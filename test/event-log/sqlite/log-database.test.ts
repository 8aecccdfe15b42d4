import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { logFilesForEachTest } from './log-files.ts'

const files = logFilesForEachTest()

test('a file of another schema is rejected, and not changed', async () => {
  await files.open().close()
  const database = new DatabaseSync(files.file)
  database.exec('PRAGMA user_version = 99')
  database.close()
  expect(() => files.open()).toThrow(/schema version 99.* another version of the program wrote it/)
})

test('a file that is not a database, or in a missing folder, is rejected by name', () => {
  writeFileSync(files.file, 'minutes of the meeting '.repeat(100))
  expect(() => files.open()).toThrow(expect.objectContaining({ retriable: false }))
  const missing = join(files.folder, 'missing', 'log.sqlite')
  expect(() => openSqliteEventLog({ file: missing, clock: files.clock })).toThrow(missing)
})
