import { dirname } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { DependencyError } from '../errors.ts'

/**
 * Checks that a file has the tables that `migrations` make, each with its columns in their order: while
 * a version is developed they may change. Other tables may belong to a tool, such as Litestream's.
 * @throws {DependencyError} not retriable.
 */
export function checkTables(
  driver: DatabaseSyncInstance,
  {
    file,
    migrations,
    remedy = `move the directory ${dirname(file)} elsewhere, or remove it`,
  }: { file: string; migrations: readonly string[]; remedy?: string | undefined },
): void {
  const made = new DatabaseSync(':memory:')
  try {
    for (const migration of migrations) made.exec(migration)
    const columns = columnsOf(driver)
    for (const [table, expected] of columnsOf(made)) {
      if (columns.get(table) === expected) continue
      throw new DependencyError(
        `${file} has schema version ${migrations.length}, but not its table ${table}: ` +
          `another version of the program wrote it; ${remedy}`,
        { retriable: false },
      )
    }
  } finally {
    made.close()
  }
}

/** The columns of each table, as text. */
function columnsOf(driver: DatabaseSyncInstance): ReadonlyMap<string, string> {
  const rows = driver
    .prepare(
      `SELECT tables.name AS name, json_group_array(columns.name ORDER BY columns.cid) AS columns
       FROM sqlite_schema AS tables, pragma_table_xinfo(tables.name) AS columns
       WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite!_%' ESCAPE '!'
       GROUP BY tables.name`,
    )
    .all() as readonly { name: string; columns: string }[]
  return new Map(rows.map(({ name, columns }) => [name, columns]))
}
