import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database } from '../../../runtime/sqlite/database.ts'
import { makeTables, sqliteDocuments } from '../../../store/sqlite/documents.ts'
import { BARGES, documentsContract, TUGS } from '../../contracts/documents-contract.ts'

documentsContract('SQLite', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sqlite-documents-'))
  const opened: Database[] = []
  return {
    async open() {
      const database = new Database(join(directory, 'tugs.sqlite'), [])
      opened.push(database)
      makeTables(database, [TUGS, BARGES])
      return sqliteDocuments(database)
    },
    async close() {
      for (const database of opened) database.close()
      rmSync(directory, { recursive: true })
    },
  }
})
