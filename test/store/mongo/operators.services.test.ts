import { expect, test } from '@jest/globals'
import { account, operator } from '../../contracts/store-samples.ts'
import { T0 } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { withDatabase } from './database.ts'

const LOCK: unknown = 'operators-lock'

await describeWith(['mongodb'], 'operators in MongoDB', ({ mongodb }) => {
  test('two processes that each remove another admin leave one', async () => {
    await withDatabase(mongodb, async (database) => {
      const stores = [await database.open(), await database.open()] as const
      for (let round = 0; round < 6; round += 1) {
        const { id: accountId } = account()
        const [ana, bo] = ['ana', 'bo'].map((name) =>
          operator({ accountId, platform: false, email: `${name}-${round}@example.org` }),
        )
        if (ana === undefined || bo === undefined) return
        await stores[0].createOperator(ana)
        await stores[0].createOperator(bo)
        const outcomes = await Promise.all([
          stores[0].deleteOperator({ accountId, operatorId: ana.id }),
          round % 2 === 0
            ? stores[1].deleteOperator({ accountId, operatorId: bo.id })
            : stores[1].changeOperator({ accountId, operatorId: bo.id, role: 'viewer' }),
        ])
        expect(outcomes.filter((outcome) => outcome === 'last admin')).toHaveLength(1)
        const left = await stores[0].pageOperators({ accountId, limit: 9 })
        expect(left.filter(({ role }) => role === 'admin')).toHaveLength(1)
      }
    })
  }, 60_000)

  test('who waits in vain for a turn is told so, and nothing is changed later', async () => {
    await withDatabase(mongodb, async (database) => {
      let now = T0
      const store = await database.open({ clock: { now: () => now } })
      const { id: accountId } = account()
      const [ana, bo] = ['ana', 'bo'].map((name) =>
        operator({ accountId, email: `${name}@example.org` }),
      )
      if (ana === undefined || bo === undefined) return
      await store.createOperator(ana)
      await store.createOperator(bo)
      const dead = { _id: LOCK, owner: 'dead', until: new Date(T0 + 60_000) } as object
      await database.db.collection('meta').insertOne(dead)
      const demotion = { accountId, operatorId: bo.id, role: 'viewer' } as const
      await expect(store.changeOperator(demotion)).rejects.toMatchObject({
        name: 'DependencyError',
        retriable: true,
        message: 'operators keep being changed by others',
      })
      // What leaves no account without an admin needs no turn.
      const password = { accountId, operatorId: bo.id, passwordHash: 'scrypt$y' }
      expect(await store.changeOperator(password)).toMatchObject({ role: 'admin' })
      now = T0 + 60_000
      expect(await store.changeOperator(demotion)).toMatchObject({ role: 'viewer' })
    })
  }, 30_000)
})
