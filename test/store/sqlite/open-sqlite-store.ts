import { DatabaseSync } from '@photostructure/sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readModelsFile } from '../../../store/sqlite/read-models.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import type { OpenedStore } from '../../contracts/store-suite.ts'

/** A store in its own directory, which is removed when the store is closed. */
export async function openTemporaryStore(): Promise<OpenedStore> {
  const directory = mkdtempSync(join(tmpdir(), 'sqlite-store-'))
  let latest = openSqliteStore({ directory })
  return {
    store: latest,
    async reopen() {
      await latest.close()
      latest = openSqliteStore({ directory })
      return latest
    },
    async storedRecords() {
      const raw = new DatabaseSync(join(directory, readModelsFile(1)), { readOnly: true })
      const rows = raw.prepare('SELECT count(*) AS count FROM records').all()
      raw.close()
      return (rows as { count: number }[])[0]?.count ?? 0
    },
    async close() {
      await latest.close()
      rmSync(directory, { recursive: true })
    },
  }
}
