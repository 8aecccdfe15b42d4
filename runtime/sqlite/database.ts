import { existsSync } from 'node:fs'
import { DatabaseSync } from '@photostructure/sqlite'
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import { DependencyError } from '../errors.ts'
import { BEFORE_0_3_0 } from './before-0.3.0.ts'
import { explainOpenError, explainOpening, requireWritableFile } from './opening.ts'
import { isBusy, translation } from './sqlite-errors.ts'
import { versionByTables } from './version-by-tables.ts'

export type Value = string | number | Uint8Array | null

/** A prepared statement; the SQL must select the columns of `Row`. */
export type Statement<Row = never> = {
  get(...values: readonly Value[]): Row | undefined
  all(...values: readonly Value[]): Row[]
  /** Returns the number of rows changed. */
  run(...values: readonly Value[]): number
  /** Takes half the time of `run`, for which the driver reports the changes. */
  execute(...values: readonly Value[]): void
}

export type DatabaseOptions = {
  /** The name in error messages. */
  readonly called?: string
  readonly busyTimeoutMs?: number
  /** Requires a file that exists and has been migrated. */
  readonly readOnly?: boolean
  /** NORMAL loses the last commits at a power cut: only for data that can be rebuilt. */
  readonly synchronous?: 'FULL' | 'NORMAL'
  /** Called before the file of an earlier version is migrated, which may take minutes. */
  readonly onMigration?: ((file: string) => void) | undefined
  /** Text for the error message if a file's tables do not match its schema version: what to do. */
  readonly remedy?: string | undefined
  /** The remedy for a damaged file, for the message; default: restore it from a backup. */
  readonly ifDamaged?: string | undefined
}

const RESTORE_IT = 'restore it from a backup (docs/operations.md, "Backup and restore")'

/**
 * A SQLite file, durable at every commit. Waits while another connection writes. Errors of the
 * driver become `DependencyError`s.
 */
export class Database {
  readonly #driver: DatabaseSyncInstance
  readonly #isReadOnly: boolean
  /** The error to throw for a driver error. */
  readonly #failure: (error: unknown) => unknown

  /**
   * Opens or creates the file and migrates its schema. `migrations[n]` migrates version n
   * to n + 1; several processes may do this concurrently.
   * @throws {DependencyError} also if a newer program has already migrated the file, or its tables
   * are not those of its schema version.
   */
  constructor(
    file: string,
    migrations: readonly string[],
    {
      called = 'the store',
      busyTimeoutMs = 5_000,
      readOnly = false,
      synchronous = 'FULL',
      onMigration,
      remedy,
      ifDamaged = RESTORE_IT,
    }: DatabaseOptions = {},
  ) {
    this.#failure = (error) =>
      explainOpenError(translation(called, error), { file, called, ifDamaged })
    const opened = { file, called, ifDamaged }
    this.#isReadOnly = readOnly
    this.#driver = explainOpening(
      opened,
      () => new DatabaseSync(file, { timeout: busyTimeoutMs, readOnly }),
    )
    try {
      explainOpening(opened, () => {
        if (!readOnly) useWriteAheadLog(this.#driver, busyTimeoutMs)
        this.#driver.exec(`PRAGMA synchronous = ${synchronous}`)
        // Deleted data is overwritten: otherwise positions would stay in free pages for years.
        this.#driver.exec('PRAGMA secure_delete = ON')
        // Otherwise REPLACE would not fire triggers on deletion.
        this.#driver.exec('PRAGMA recursive_triggers = ON')
        this.#migrate(file, migrations, { readOnly, onMigration, remedy })
      })
    } catch (error) {
      this.close()
      throw error
    }
  }

  /**
   * Checks that the file, if it exists, can be written, and that this program can use or migrate
   * it. Changes nothing.
   * @throws {DependencyError} as the constructor does.
   */
  static check(
    file: string,
    migrations: readonly string[],
    options: Pick<DatabaseOptions, 'called' | 'remedy' | 'ifDamaged'> = {},
  ): void {
    if (!existsSync(file)) return
    const { called = 'the store', remedy, ifDamaged = RESTORE_IT } = options
    requireWritableFile(file)
    explainOpening({ file, called, ifDamaged }, () => {
      const driver = new DatabaseSync(file, { readOnly: true })
      try {
        requireKnown(versionOf(driver, { file, migrations, remedy }), { file, migrations })
      } finally {
        driver.close()
      }
    })
  }

  /**
   * The statement is compiled on first use: most programs use few of a store's statements.
   * @param asArrays whether rows are arrays of their columns, which takes the driver half the time.
   */
  prepare<Row = never>(sql: string, { asArrays = false } = {}): Statement<Row> {
    let compiled: StatementSyncInstance | undefined
    const compile = () => {
      compiled = this.#driver.prepare(sql)
      if (asArrays) compiled.setReturnArrays(true)
      return compiled
    }
    const failure = this.#failure
    // Without a closure for each call: these are the most frequent calls of all.
    return {
      get(...values) {
        try {
          return (compiled ?? compile()).get(...bindable(values)) as Row | undefined
        } catch (error) {
          throw failure(error)
        }
      },
      all(...values) {
        try {
          return (compiled ?? compile()).all(...bindable(values)) as Row[]
        } catch (error) {
          throw failure(error)
        }
      },
      run(...values) {
        try {
          return (compiled ?? compile()).run(...bindable(values)).changes
        } catch (error) {
          throw failure(error)
        }
      },
      execute(...values) {
        try {
          ;(compiled ?? compile()).get(...bindable(values))
        } catch (error) {
          throw failure(error)
        }
      },
    }
  }

  /** Runs statements without parameters or results, such as schema changes. */
  exec(sql: string): void {
    this.#translated(() => this.#driver.exec(sql))
  }

  /** Runs `write` in one exclusive write transaction, and rolls back if it throws. */
  transaction<T>(write: () => T): T {
    // A transaction that starts as a reader could find the file locked at its first write.
    this.#translated(() => this.#driver.exec('BEGIN IMMEDIATE'))
    try {
      const result = write()
      this.#translated(() => this.#driver.exec('COMMIT'))
      return result
    } catch (error) {
      // Some errors, such as a full disk, have already ended the transaction.
      if (this.#driver.isTransaction) this.#driver.exec('ROLLBACK')
      throw error
    }
  }

  /** Leaves all data in the file itself, unless another connection reads or writes it. */
  close(): void {
    if (!this.#driver.isOpen) return
    if (!this.#isReadOnly) this.#emptyWriteAheadLog()
    this.#translated(() => this.#driver.close())
  }

  /**
   * The driver closes late, because its statements live until they are garbage-collected, and may
   * never do so.
   */
  #emptyWriteAheadLog(): void {
    try {
      this.#driver.exec('PRAGMA busy_timeout = 0')
      this.#driver.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // Busy or closed: content remaining in the write-ahead log is equally durable there.
    }
  }

  #translated<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw this.#failure(error)
    }
  }

  #migrate(
    file: string,
    migrations: readonly string[],
    { readOnly, onMigration, remedy }: Pick<DatabaseOptions, 'readOnly' | 'onMigration' | 'remedy'>,
  ): void {
    const version = () => versionOf(this.#driver, { file, migrations, remedy })
    const before = version()
    if (before === migrations.length) return
    if (readOnly === true && before > 0 && before < migrations.length) {
      throw new DependencyError(
        `${file} has schema version ${before}, this program needs ${migrations.length}: an earlier version ` +
          'of the program wrote it; use that one, or start the service of this version first',
        { retriable: false },
      )
    }
    if (before > 0 && before < migrations.length) onMigration?.(file)
    this.transaction(() => {
      const current = version()
      requireKnown(current, { file, migrations })
      for (const migration of migrations.slice(current)) this.#driver.exec(migration)
      this.#driver.exec(`PRAGMA user_version = ${migrations.length}`)
    })
    // A migration's writes are all in the write-ahead log, which would otherwise remain as large.
    if (before > 0) this.#driver.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  }
}

function versionOf(
  driver: DatabaseSyncInstance,
  {
    file,
    migrations,
    remedy,
  }: { file: string; migrations: readonly string[]; remedy: string | undefined },
): number {
  const row = driver.prepare('PRAGMA user_version').get() as { user_version: number }
  const version = row.user_version
  if (migrations[version - 1] === BEFORE_0_3_0) {
    throw new DependencyError(
      `${file} has schema version ${version}, from before version 0.3.0 of the program: start version 0.3.0 with it once`,
      { retriable: false },
    )
  }
  const isKnown = version > 0 && version <= migrations.length
  return isKnown ? versionByTables(driver, { file, version, migrations, remedy }) : version
}

/** @throws {DependencyError} when a newer program has migrated the file. */
function requireKnown(
  version: number,
  { file, migrations }: { file: string; migrations: readonly string[] },
): void {
  if (version <= migrations.length) return
  throw new DependencyError(
    `${file} has schema version ${version}, this program knows up to ${migrations.length}: ` +
      'another version of the program wrote it; start that one',
    { retriable: false },
  )
}

/**
 * Retries: if two processes switch a new file to WAL together, one fails with "busy" immediately,
 * because the busy time-out does not cover this step.
 */
function useWriteAheadLog(driver: DatabaseSyncInstance, busyTimeoutMs: number): void {
  const deadline = Date.now() + busyTimeoutMs
  for (;;) {
    try {
      driver.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
}

function bindable(values: readonly Value[]): readonly Value[] {
  return values.every(isKept)
    ? values
    : values.map((value) => (isKept(value) ? value : copyValue(value)))
}

/** Whether the driver binds the value unchanged. */
function isKept(value: Value): boolean {
  if (typeof value === 'number') return value <= 0 || value >= Number.EPSILON
  return typeof value !== 'string' || !value.includes('\0')
}

/**
 * The driver rounds a number less than 2^-52 above an integer to that integer, so a tiny positive
 * one would become 0. As decimal text, a REAL column stores it exactly. It also truncates a text at
 * U+0000, so that a query would match the shorter text. A buffer matches no text, and STRICT tables
 * refuse it.
 */
function copyValue(value: Value): Value {
  return typeof value === 'string' ? Buffer.from(value) : String(value)
}
