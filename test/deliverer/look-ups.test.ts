import { expect, test } from '@jest/globals'
import { lookUpsInTurns } from '../../deliverer/turns.ts'
import { startDeliveries } from './harness.ts'

test("an account with many subscriptions does not delay another account's device look-up", async () => {
  const { store } = await startDeliveries()
  const inTurns = lookUpsInTurns(store)
  const order: string[] = []
  const lookUp = async (accountId: string) => {
    await inTurns.findDevices({ accountId, deviceIds: ['van'] })
    order.push(accountId)
  }
  await Promise.all([...Array.from({ length: 50 }, () => lookUp('acc-1')), lookUp('acc-2')])
  expect(order.indexOf('acc-2')).toBeLessThan(6)
})
