import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openMongoStore } from '../../../store/mongo/mongo-store.ts'
import { listens, startProgram } from '../../programs.ts'
import { T0 } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { silent } from './database.ts'

/** The privileges of MongoDB's role `readWrite`; a stand-in's may include more. */
const READ_WRITE = [
  ...['find', 'insert', 'update', 'remove', 'killCursors', 'listCollections', 'listIndexes'],
  ...['createCollection', 'dropCollection', 'createIndex', 'dropIndex', 'renameCollectionSameDB'],
  ...['changeStream', 'collStats', 'dbStats', 'dbHash', 'convertToCapped'],
]
const USERS = [
  { name: 'enough', roles: ['readWrite', 'dbAdmin'] },
  { name: 'writer', roles: [], actions: READ_WRITE },
  { name: 'reader', roles: ['read'] },
]
const NEEDED = 'the user of MONGODB_URL needs the roles readWrite and dbAdmin on its database'

await describeWith(['mongodbWithUsers'], 'the roles of the MongoDB user', (services) => {
  let server: Awaited<ReturnType<typeof services.mongodbWithUsers>>

  beforeAll(async () => {
    server = await services.mongodbWithUsers(USERS)
  })

  afterAll(() => server?.stop())

  function open(name: string) {
    const clock = { now: () => T0 }
    const url = server.urlOf(name)
    return openMongoStore({ url, clock, logger: silent, retention: { wanted: 30 } })
  }

  test('the documented roles are enough', async () => {
    const store = await open('enough')
    await store.ready()
    expect(await store.retentionDays()).toBe(30)
    await store.close()
  })

  test.each(['writer', 'reader'])(
    'a %s is rejected with a message that names the roles needed',
    async (name) => {
      await expect(open(name)).rejects.toMatchObject({
        retriable: false,
        message: expect.stringContaining(NEEDED),
      })
    },
  )

  test('a projector whose user lacks a role exits with that message', async () => {
    const projector = startProgram('projector/main', {
      env: { MONGODB_URL: server.urlOf('writer'), KAFKA_BROKERS: '127.0.0.1:1' },
    })
    const listening = listens(projector, 'projector')
    await expect(listening).rejects.toThrow('ended before it listened')
    expect(await projector.ended).toBe(1)
    expect(projector.output()).toContain(NEEDED)
  })
})
