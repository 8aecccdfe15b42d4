import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database } from '../../../runtime/sqlite/database.ts'
import { makeTables, sqliteDocuments } from '../../../store/sqlite/documents.ts'
import { documentsContract, TUGS } from '../../contracts/documents-contract.ts'

documentsContract('SQLite', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sqlite-documents-'))
  const opened: Database[] = []
  return {
    async open() {
      const database = new Database(join(directory, 'tugs.sqlite'), [])
      opened.push(database)
      makeTables(database, [TUGS])
      return sqliteDocuments(database)
    },
    async close() {
      for (const database of opened) database.close()
      rmSync(directory, { recursive: true })
    },
  }
})
