import { expect, test } from '@jest/globals'
import { openMongoStore } from '../../../store/mongo/mongo-store.ts'
import { describeWith } from '../../services/describe-with.ts'
import { T0 } from '../../samples.ts'
import { account, operator } from '../../contracts/store-samples.ts'
import { eventually } from '../../eventually.ts'
import { flakyProxy } from './flaky-proxy.ts'
import { silent, mongoSuite } from './database.ts'

const away = { name: 'DependencyError', retriable: true }

await describeWith(['mongodb'], 'opening the MongoDB store', ({ mongodb }) => {
  const { promise } = mongoSuite(mongodb)

  promise('several processes may open a new database concurrently', async ({ open, db }) => {
    const stores = await Promise.all(Array.from({ length: 5 }, () => open()))
    await Promise.all(stores.map((store) => store.ready()))
    const meta = await db.collection('meta').find().sort({ _id: 1 }).toArray()
    expect(meta).toEqual([
      { _id: 'read-models', generation: 1, newest: 1 },
      { _id: 'schema', version: 1 },
    ])
  })

  promise('a database of another schema is rejected', async ({ open, db }) => {
    await open()
    await db.collection('meta').updateOne({ _id: SCHEMA }, { $inc: { version: 1 } })
    await expect(open()).rejects.toMatchObject({
      name: 'DependencyError',
      retriable: false,
      message: expect.stringContaining('schema version 2, this program knows up to 1'),
    })
  })

  promise(
    'the lock of a dead process delays others no longer than its lease',
    async ({ open, db }) => {
      let now = T0
      const lock = { _id: LOCK, owner: 'dead', until: new Date(T0 + 60_000) }
      await db.collection('meta').insertOne(lock)
      let opened = false
      const opening = open({ clock: { now: () => now } }).then(() => (opened = true))
      const meta = () => db.collection('meta').findOne({ _id: SCHEMA })
      await eventually(async () => (await meta()) === null)
      expect(opened).toBe(false)
      now = T0 + 60_000
      await opening
      expect(await meta()).toMatchObject({ version: 1 })
      expect(await db.collection('meta').findOne({ _id: LOCK })).toBeNull()
    },
  )

  promise(
    'first operators of different accounts created concurrently leave one account',
    async ({ open, db }) => {
      const stores = [await open(), await open()]
      const tries = [...stores, ...stores, ...stores].map((store, n) => {
        const own = account()
        const email = `ana-${n}@example.org`
        const first = { account: own, operator: operator({ accountId: own.id, email }) }
        return store.createFirstOperator(first)
      })
      const made = await Promise.all(tries)
      expect(made.filter(Boolean)).toHaveLength(1)
      const accounts = await db.collection('back_office.accounts').find().toArray()
      const operators = await db.collection('back_office.operators').find().toArray()
      expect(operators).toHaveLength(1)
      expect(accounts.map(({ _id }) => String(_id))).toEqual([operators[0]?.['accountId']])
    },
  )

  promise(
    'it opens while the server is unreachable, reports that, and works once the server is reachable',
    async ({ openBehindProxy }) => {
      const { store, proxy } = await openBehindProxy('refuse')
      await expect(store.ready()).rejects.toMatchObject({
        ...away,
        message: expect.stringContaining('not ready'),
      })
      await expect(store.findAccount('acc-1')).rejects.toMatchObject(away)
      await expect(store.checkpoint()).rejects.toMatchObject(away)
      await proxy.become('pass')
      await eventually(() => store.ready().then(() => true))
      expect(await store.findAccount('acc-1')).toBeUndefined()
    },
  )

  for (const mode of ['refuse', 'silent'] as const) {
    promise(
      `when the server becomes unreachable (${mode}), calls fail within 6 s, and the store recovers without reopening`,
      async ({ openBehindProxy }) => {
        const { store, proxy } = await openBehindProxy()
        await proxy.become(mode)
        const started = Date.now()
        const calls = [
          store.findGrant(Buffer.alloc(32)),
          store.findAccount('acc-1'),
          store.createAccount(account()),
          store.ready(),
        ]
        for (const outcome of await Promise.allSettled(calls)) {
          expect(outcome).toMatchObject({ status: 'rejected', reason: away })
        }
        expect(Date.now() - started).toBeLessThan(6_000)
        await proxy.become('pass')
        await eventually(() => store.ready().then(() => true), { withinMs: 30_000 })
        expect(await store.findAccount('acc-1')).toBeUndefined()
      },
    )
  }

  test('a store that never reached its server can be closed', async () => {
    const proxy = await flakyProxy(mongodb.url)
    await proxy.close()
    const store = await openMongoStore({
      url: proxy.url,
      logger: silent,
      clock: { now: () => T0 },
    })
    await store.close()
    await expect(store.ready()).rejects.toMatchObject({ name: 'DependencyError' })
  })
})

/**
 * The driver's types assume an ObjectId for every `_id` unless the collection's type says
 * otherwise.
 */
const [SCHEMA, LOCK] = ['schema', 'migration-lock'] as unknown as [never, never]
