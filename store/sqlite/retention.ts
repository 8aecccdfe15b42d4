import type { Database } from '../../runtime/sqlite/database.ts'
import { settledRetention, type WantedRetention } from '../retention.ts'

/** The retention that the store has, in the file that is not rebuilt from the log. */
export function sqliteRetention(accounts: Database) {
  const find = accounts.prepare<{ days: number | null }>(
    'SELECT retention_days AS days FROM read_models',
  )
  const save = accounts.prepare('UPDATE read_models SET retention_days = ?')
  const days = () => find.get()?.days ?? undefined

  return {
    days,

    /** @throws {DependencyError} not retriable if the store has one and none is configured. */
    claim(wanted: WantedRetention): void {
      accounts.transaction(() => save.run(settledRetention(wanted, days()) ?? null))
    },
  }
}
