import { dirname } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { DependencyError } from '../errors.ts'

/**
 * The schema version of a file whose number is `version`: the first from there on whose migrations
 * create the file's tables, each with its columns in their order. While a version of the program is
 * developed, its tables may change under the same number. Other tables may belong to a tool, such
 * as Litestream.
 * @throws {DependencyError} not retriable, if no version creates them.
 */
export function versionByTables(
  driver: DatabaseSyncInstance,
  {
    file,
    version,
    migrations,
    remedy = `move the directory ${dirname(file)} elsewhere, or remove it`,
  }: {
    file: string
    version: number
    migrations: readonly string[]
    remedy?: string | undefined
  },
): number {
  const made = new DatabaseSync(':memory:')
  try {
    const columns = columnsOf(driver)
    let wrong: string | undefined
    for (const [n, migration] of migrations.entries()) {
      made.exec(migration)
      if (n + 1 < version) continue
      const table = firstDifference(columnsOf(made), columns)
      if (table === undefined) return n + 1
      wrong ??= table
    }
    throw new DependencyError(
      `${file} has schema version ${version}, but not its table ${wrong}: ` +
        `another version of the program wrote it; ${remedy}`,
      { retriable: false },
    )
  } finally {
    made.close()
  }
}

function firstDifference(
  expected: ReadonlyMap<string, string>,
  columns: ReadonlyMap<string, string>,
): string | undefined {
  return [...expected.keys()].find((table) => columns.get(table) !== expected.get(table))
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
