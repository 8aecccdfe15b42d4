import { openSync, closeSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { checkDatabase, copyDatabase } from '../../../commands/backup/copy-database.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'

const directory = directoryForEachTest()
const ROWS = 20_000

test('a copy has the state at its start, regardless of concurrent writes', async () => {
  const writer = aTable()
  const insert = writer.prepare('INSERT INTO reports VALUES (NULL, randomblob(1000))')
  const write = () => {
    for (let n = 0; n < 10; n += 1) insert.run()
  }
  const parts: number[] = []
  const copying = copyDatabase(file('source'), file('copy'), (part) => {
    parts.push(part)
    write()
  })
  // It has started. How often it reports progress depends on the machine's load.
  write()
  await copying
  writer.close()
  expect(parts.at(-1)).toBe(1)
  expect(parts).toEqual([...parts].sort((a, b) => a - b))
  expect(rowsOf('copy')).toBe(ROWS)
  checkDatabase(file('copy'))
})

test('a file that is missing or not a database is not copied', async () => {
  await expect(copyDatabase(file('none'), file('copy'), ignore)).rejects.toThrow(
    `${file('none')} failed: Failed to open database: unable to open`,
  )
  await expect(copyDatabase(directory(), file('copy'), ignore)).rejects.toThrow('failed')
})

test('a damaged database is detected', () => {
  aTable().close()
  checkDatabase(file('source'))
  const opened = openSync(file('source'), 'r+')
  // The middle of a page in the middle of the file.
  writeSync(opened, Buffer.alloc(3_000, 7), 0, 3_000, Math.floor(statSync(file('source')).size / 2))
  closeSync(opened)
  expect(() => checkDatabase(file('source'))).toThrow(`${file('source')} is damaged: `)
})

function file(name: string): string {
  return join(directory(), `${name}.sqlite`)
}

function aTable() {
  const database = new DatabaseSync(file('source'))
  database.exec(`PRAGMA journal_mode = WAL; CREATE TABLE reports (id INTEGER PRIMARY KEY, body BLOB);
    CREATE INDEX by_body ON reports (body);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
    INSERT INTO reports SELECT NULL, randomblob(200) FROM n`)
  return database
}

function rowsOf(name: string): number {
  const database = new DatabaseSync(file(name))
  const { rows } = database.prepare('SELECT count(*) AS rows FROM reports').get() as {
    rows: number
  }
  database.close()
  return rows
}

function ignore(): void {}
