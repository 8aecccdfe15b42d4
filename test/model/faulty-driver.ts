import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  DatabaseSync as RealDatabase,
  type DatabaseSyncInstance,
  type StatementSyncInstance,
} from '@photostructure/sqlite'

/** A fault at one of the following statements. */
export type StatementFault =
  /** The process dies before the statement, or right after it. */
  | 'dies before'
  | 'dies after'
  /** SQLite refuses the statement: another connection writes, or the disk is full. */
  | 'busy'
  | 'full'
  /**
   * The next commit, of a transaction or one statement, succeeds, but the driver reports a failure.
   */
  | 'done, but fails'

const ERRCODES = { busy: 5, full: 13, 'done, but fails': 10 } as const

let countdown = Infinity
let armed: StatementFault = 'busy'
let die: (() => void) | undefined
let dead = false

/** From now on, the `nth` statement that writes meets this fault. */
export function armFault(fault: StatementFault, nth: number): void {
  armed = fault
  countdown = nth
}

/** A new process: disarms all faults; `onDeath` is called when the process dies. */
export function newProcess(onDeath: () => void): void {
  countdown = Infinity
  dead = false
  die = onDeath
}

export function disarm(): void {
  countdown = Infinity
}

export function isDead(): boolean {
  return dead
}

/** The process dies now, between two statements. */
export function killProcess(): void {
  if (dead) return
  dead = true
  die?.()
}

/**
 * The state of open database files after `kill -9`: everything written so far. The write-ahead
 * log's index is shared memory, which the next process recreates.
 */
export function copyFiles(from: string, to: string): void {
  mkdirSync(to)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) copyFiles(source, target)
    else if (!/-shm$|\.lock$/.test(entry.name)) copyFileSync(source, target)
  }
}

/** The real driver with the armed faults. A dead process does nothing. */
export class FaultyDatabase extends RealDatabase implements DatabaseSyncInstance {
  override exec(sql: string): void {
    meet(sql, () => super.exec(sql))
  }

  override get isTransaction(): boolean {
    return !dead && super.isTransaction
  }

  override prepare(sql: string): StatementSyncInstance {
    const statement = meet('PREPARE', () => super.prepare(sql))
    const run = statement.run.bind(statement)
    const isAlone = () => !this.isTransaction
    const get = statement.get.bind(statement)
    const all = statement.all.bind(statement)
    return {
      run: (...values: never[]) => meet(sql, () => run(...values), isAlone),
      get: (...values: never[]) => meet(sql, (): unknown => get(...values), isAlone),
      all: (...values: never[]) => meet(sql, (): unknown => all(...values)),
      setReturnArrays: (asArrays: boolean) => statement.setReturnArrays(asArrays),
    } as unknown as StatementSyncInstance
  }
}

function isWrite(sql: string): boolean {
  return /^\s*(BEGIN IMMEDIATE|COMMIT|INSERT|REPLACE|UPDATE|DELETE)/.test(sql)
}

function meet<T>(sql: string, work: () => T, isAlone = () => sql === 'COMMIT'): T {
  if (dead) throw failure('busy', 'the process is dead')
  if (!isWrite(sql)) return work()
  countdown -= 1
  if (countdown > 0 || (armed === 'done, but fails' && !isAlone())) return work()
  countdown = Infinity
  switch (armed) {
    case 'dies before':
      killProcess()
      throw failure('busy', 'the process is dead')
    case 'dies after': {
      const result = work()
      killProcess()
      return result
    }
    case 'done, but fails':
      work()
      throw failure(armed, 'disk I/O error')
    case 'busy':
    case 'full':
      throw failure(armed, `the database is ${armed}`)
  }
}

function failure(fault: keyof typeof ERRCODES, message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode: ERRCODES[fault] })
}
