import { expect, test } from '@jest/globals'
import { account, operator } from '../../contracts/store-samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { withDatabase } from './database.ts'

await describeWith(['mongodb'], 'operators in MongoDB', ({ mongodb }) => {
  test('two processes that each remove a different admin leave one', async () => {
    await withDatabase(mongodb, async (database) => {
      const stores = [await database.open(), await database.open()] as const
      for (let round = 0; round < 6; round += 1) {
        const own = account()
        const accountId = own.id
        await stores[0].createAccount(own)
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
  })
})
