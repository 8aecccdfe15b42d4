import { expect, test } from '@jest/globals'
import { databaseOf, openClient } from '../../../store/mongo/mongo-client.ts'
import { openMongoStore } from '../../../store/mongo/mongo-store.ts'
import { T0 } from '../../samples.ts'
import { silent } from './database.ts'

test('the database is named in the URL, or gps', async () => {
  for (const [url, name] of [
    ['mongodb://localhost:27017', 'gps'],
    ['mongodb://localhost:27017/', 'gps'],
    ['mongodb://localhost:27017/?replicaSet=rs0', 'gps'],
    ['mongodb://localhost/fleet?replicaSet=rs0', 'fleet'],
    ['mongodb://ana:s%2Fecret@one:1,two:2/test', 'test'],
  ] as const) {
    const client = openClient(url)
    expect(databaseOf(client, url).databaseName).toBe(name)
    await client.close()
  }
})

test('a malformed connection string is rejected immediately', async () => {
  const options = { url: 'postgres://localhost', logger: silent, clock: { now: () => T0 } }
  await expect(openMongoStore(options)).rejects.toThrow('scheme')
})
