import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
    async close() {
      await latest.close()
      rmSync(directory, { recursive: true })
    },
  }
}
