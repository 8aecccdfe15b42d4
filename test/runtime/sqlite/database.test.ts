/** @node all */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DependencyError } from '../../../runtime/errors.ts'
import { fillBefore030 } from '../../../runtime/sqlite/before-0.3.0.ts'
import { Database, type DatabaseOptions } from '../../../runtime/sqlite/database.ts'
import { isNotUnique } from '../../../runtime/sqlite/sqlite-errors.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'

const NOTES = ['CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT, size REAL) STRICT']

describe('database files', () => {
  const directory = directoryForEachTest()
  let file: string
  const opened: { close(): void }[] = []

  beforeEach(() => {
    file = join(directory(), 'notes.sqlite')
  })

  afterEach(() => {
    for (const database of opened.splice(0)) database.close()
  })

  test('a database file survives a power cut after each commit', () => {
    const database = open()
    expect(pragma(database, 'journal_mode')).toBe('wal')
    expect(pragma(database, 'synchronous')).toBe(2)
    expect(pragma(database, 'foreign_keys')).toBe(1)
  })

  test('a database file keeps nothing of what was deleted or replaced', () => {
    const database = open()
    const insert = database.prepare('INSERT INTO notes VALUES (?, ?, ?)')
    const secret = 'Name of a person '
    for (let id = 1; id <= 100; id += 1) insert.run(id, secret.repeat(id), null)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    expect(readFileSync(file).includes(secret)).toBe(true)
    database.exec("UPDATE notes SET body = 'none' WHERE id < 50; DELETE FROM notes WHERE id >= 50")
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    expect(readFileSync(file).includes(secret)).toBe(false)
  })

  test('a database file of any older schema version is migrated to the current one', () => {
    open(NOTES).prepare('INSERT INTO notes VALUES (?, ?, ?)').run(1, 'kept', null)
    const next = [...NOTES, 'ALTER TABLE notes ADD COLUMN author TEXT', 'CREATE TABLE more (n)']
    const told: string[] = []
    const database = open(next, { onMigration: (migrated) => told.push(migrated) })
    expect(told).toEqual([file])
    expect(pragma(database, 'user_version')).toBe(3)
    expect(database.prepare('SELECT * FROM notes').all()).toMatchObject([
      { body: 'kept', author: null },
    ])
    expect(database.prepare('SELECT * FROM more').all()).toEqual([])
  })

  test('a database file of a development version is migrated from the version of its tables', () => {
    const next = [...NOTES, 'ALTER TABLE notes ADD COLUMN author TEXT', 'CREATE TABLE more (n)']
    const between = open(next.slice(0, 2))
    between.prepare('INSERT INTO notes VALUES (?, ?, ?, ?)').run(1, 'kept', null, 'ana')
    between.exec('PRAGMA user_version = 1')
    const database = open(next)
    expect(pragma(database, 'user_version')).toBe(3)
    expect(database.prepare('SELECT * FROM notes').all()).toMatchObject([{ author: 'ana' }])
  })

  test('a migration that fails leaves the file as it was', () => {
    const broken = [...NOTES, 'CREATE TABLE half (n); CREATE TABLE notes (n)']
    expect(thrownBy(() => open(broken))).toMatchObject({ retriable: false })
    const database = open()
    expect(pragma(database, 'user_version')).toBe(1)
    expect(database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'half'").get()).toBe(
      undefined,
    )
  })

  test('a database file written by another version of the program is rejected with a clear message', () => {
    open([...NOTES, 'CREATE TABLE more (n)'])
    expect(() => open(NOTES)).toThrow(
      `${file} has schema version 2, this program knows up to 1: ` +
        'another version of the program wrote it; start that one',
    )
  })

  test("a database file from before version 0.3.0 is rejected and left unchanged; a new file has that version's tables", () => {
    const older = new DatabaseSync(file)
    older.exec('PRAGMA journal_mode = WAL; CREATE TABLE notes (id); PRAGMA user_version = 2')
    older.close()
    const bytes = readFileSync(file)
    const schema = [...fillBefore030(2), ...NOTES]
    expect(thrownBy(() => open(schema))).toMatchObject({
      retriable: false,
      message: `${file} has schema version 2, from before version 0.3.0 of the program: start version 0.3.0 with it once`,
    })
    expect(readFileSync(file).equals(bytes)).toBe(true)
    rmSync(file)
    expect(pragma(open(schema), 'user_version')).toBe(3)
  })

  test('a database file of an earlier version is not migrated by a program that only reads it', () => {
    open()
    expect(() => open([...NOTES, 'CREATE TABLE more (n)'], { readOnly: true })).toThrow(
      `${file} has schema version 1, this program needs 2: an earlier version of the program wrote it; ` +
        'use that one, or start the service of this version first',
    )
    open()
  })

  test.each([
    ['has another name', 'CREATE TABLE remarks (id INTEGER PRIMARY KEY, body TEXT, size REAL)'],
    ['lacks a column', 'CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)'],
    ['has one more column', 'CREATE TABLE notes (id, body, size, author)'],
  ])(
    'a database file is rejected and left unchanged when a table of its schema version %s',
    (_, tables) => {
      const older = new DatabaseSync(file)
      older.exec(`PRAGMA journal_mode = WAL; ${tables}; PRAGMA user_version = 1`)
      older.close()
      const bytes = readFileSync(file)
      const next = [...NOTES, 'CREATE TABLE more (n)']
      for (const options of [{}, { readOnly: true }]) {
        expect(thrownBy(() => open(NOTES, options))).toMatchObject({
          retriable: false,
          message:
            `${file} has schema version 1, but not its table notes: another version of the ` +
            `program wrote it; move the directory ${directory()} elsewhere, or remove it`,
        })
      }
      expect(() => open(next)).toThrow('but not its table notes')
      expect(readFileSync(file).equals(bytes)).toBe(true)
    },
  )

  test("a database file may contain a tool's tables besides those of its schema version", () => {
    open().exec('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)')
    expect(open().prepare('SELECT * FROM notes').all()).toEqual([])
  })

  test('a failed transaction leaves nothing behind, and the next one succeeds', () => {
    const database = open()
    const insert = database.prepare('INSERT INTO notes VALUES (?, ?, ?)')
    const failure = new RangeError('not ours')
    expect(
      thrownBy(() =>
        database.transaction(() => {
          insert.run(1, 'lost', null)
          throw failure
        }),
      ),
    ).toBe(failure)
    database.transaction(() => insert.run(2, 'kept', null))
    expect(database.prepare('SELECT body FROM notes').all()).toMatchObject([{ body: 'kept' }])
  })

  test('a write that fails because another process is writing is retriable', () => {
    const database = open()
    const insert = database.prepare('INSERT INTO notes VALUES (?, ?, ?)')
    const other = new DatabaseSync(file)
    opened.push(other)
    other.exec('BEGIN IMMEDIATE')
    const write = () => database.transaction(() => insert.run(1, 'late', null))
    expect(thrownBy(write)).toMatchObject({
      retriable: true,
      message: expect.stringContaining('locked'),
    })
    expect(database.prepare('SELECT * FROM notes').all()).toEqual([])
    other.exec('ROLLBACK')
    expect(write()).toBe(1)
  })

  test('a full disk fails the whole transaction as retriable', () => {
    const database = open([`${NOTES[0]}; PRAGMA max_page_count = 12`])
    const insert = database.prepare('INSERT INTO notes VALUES (?, ?, ?)')
    const write = (size: number) =>
      database.transaction(() => {
        insert.run(1, 'small', null)
        insert.run(2, 'x'.repeat(size), null)
      })
    expect(thrownBy(() => write(100_000))).toMatchObject({
      retriable: true,
      message: expect.stringContaining('full'),
    })
    expect(database.prepare('SELECT * FROM notes').all()).toEqual([])
    write(10)
    expect(database.prepare('SELECT id FROM notes').all()).toHaveLength(2)
  })

  test('a read-only disk is not reported as damaged data', () => {
    const database = open()
    database.prepare('PRAGMA query_only = 1').run()
    const write = () => database.prepare('INSERT INTO notes VALUES (?, ?, ?)').run(1, 'x', null)
    expect(thrownBy(write)).toMatchObject({
      retriable: true,
      message: expect.stringContaining('readonly'),
    })
  })

  test('a file that cannot be opened is a retriable failure', () => {
    mkdirSync(file)
    expect(thrownBy(() => open())).toMatchObject({ retriable: true })
  })

  test('a file that is not a database is a permanent failure', () => {
    writeFileSync(file, 'GPS,positions,as,text\n'.repeat(100))
    expect(thrownBy(() => open())).toMatchObject({ retriable: false })
  })

  test('a violated constraint is a permanent failure', () => {
    const insert = open().prepare('INSERT INTO notes VALUES (?, ?, ?)')
    insert.run(1, 'first', null)
    expect(thrownBy(() => insert.run(1, 'second', null))).toMatchObject({ retriable: false })
    expect(thrownBy(() => insert.execute(1, 'second', null))).toMatchObject({ retriable: false })
  })

  test('a duplicate row is distinguished from other violated constraints, and the transaction continues', () => {
    const database = open(['CREATE TABLE names (name TEXT NOT NULL UNIQUE) STRICT'])
    const insert = database.prepare('INSERT INTO names VALUES (?)')
    const refusal = (name: string | null) => {
      try {
        return insert.execute(name)
      } catch (error) {
        return isNotUnique(error) ? 'there already' : 'broken'
      }
    }
    const refusals = database.transaction(() => ['one', 'one', null, 'two'].map(refusal))
    expect(refusals).toEqual([undefined, 'there already', 'broken', undefined])
    expect(database.prepare('SELECT name FROM names').all()).toEqual([
      { name: 'one' },
      { name: 'two' },
    ])
  })

  test('a statement after closing is rejected', () => {
    const database = open()
    const select = database.prepare('SELECT * FROM notes')
    database.close()
    database.close()
    const closed = { message: 'the store is closed', retriable: true }
    expect(thrownBy(() => select.all())).toMatchObject(closed)
    expect(thrownBy(() => database.transaction(() => 0))).toMatchObject(closed)
  })

  test('a number a little above an integer is not rounded to it', () => {
    const database = open()
    const insert = database.prepare('INSERT INTO notes VALUES (?, ?, ?)')
    const numbers = [5e-324, 1e-300, 1e-17, 2 ** -53, 2 ** -52, 1 + 2 ** -52, -1e-17, 1.5e300]
    for (const [id, number] of numbers.entries()) insert.run(id, null, number)
    const rows = database.prepare<{ size: number }>('SELECT size FROM notes ORDER BY id').all()
    expect(rows.map(({ size }) => size)).toEqual(numbers)
  })

  test('a text is never truncated at U+0000', () => {
    const database = open()
    const insert = database.prepare('INSERT INTO notes VALUES (?, ?, ?)')
    insert.run(1, 'key', null)
    const find = database.prepare('SELECT id FROM notes WHERE body = ?')
    expect(find.get('key')).toBeDefined()
    expect(find.get('key\0 and more')).toBeUndefined()
    expect(thrownBy(() => insert.run(2, 'key\0 and more', null))).toMatchObject({
      retriable: false,
    })
  })

  function open(migrations: readonly string[] = NOTES, options: DatabaseOptions = {}): Database {
    const database = new Database(file, migrations, { busyTimeoutMs: 50, ...options })
    opened.push(database)
    return database
  }
})

function pragma(database: Database, name: string): unknown {
  return database.prepare<Record<string, unknown>>(`PRAGMA ${name}`).get()?.[name]
}

/** The error that `work` throws; a driver's error must have become a `DependencyError`. */
function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    if (!(error instanceof DependencyError)) return error
    return { message: error.message, retriable: error.retriable, cause: error.cause }
  }
  throw new Error('nothing was thrown')
}
