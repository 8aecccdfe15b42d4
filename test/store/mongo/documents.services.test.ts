import { databaseOf, openClient } from '../../../store/mongo/mongo-client.ts'
import {
  makeSearchIndexes,
  makeUniqueIndexes,
  mongoDocuments,
} from '../../../store/mongo/documents.ts'
import { BARGES, documentsContract, TUGS } from '../../contracts/documents-contract.ts'
import { describeWith } from '../../services/describe-with.ts'
import { testDatabase } from './database.ts'

await describeWith(['mongodb'], 'documents on a MongoDB server', ({ mongodb }) => {
  documentsContract('MongoDB', async () => {
    const database = testDatabase(mongodb)
    const { url } = database
    const clients = [openClient(url), openClient(url)]
    const databases = clients.map((client) => databaseOf(client, url))
    return {
      async open() {
        const db = databases.pop()
        if (db === undefined) throw new Error('two processes at most')
        await makeUniqueIndexes(db, [TUGS, BARGES])
        await makeSearchIndexes(db, [TUGS, BARGES])
        return mongoDocuments(db)
      },
      async close() {
        for (const client of clients) await client.close()
        await database.drop()
      },
    }
  })
})
