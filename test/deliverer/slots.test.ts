import { expect, test } from '@jest/globals'
import { requestSlots } from '../../deliverer/turns.ts'

/** Acquires slots; returns their number and releases them. */
function taking(slots: ReturnType<typeof requestSlots>) {
  const begun: (() => void)[] = []
  const take = (accountId: string, isFailing = false) => {
    slots.take({ accountId, isFailing }).then(
      (end) => begun.push(end),
      () => undefined,
    )
  }
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { begun, take, settled }
}

test('an account has at most 8 requests in flight, and all accounts together 64', async () => {
  const { begun, take, settled } = taking(requestSlots())
  for (let n = 0; n < 20; n += 1) take('one')
  await settled()
  expect(begun).toHaveLength(8)
  for (let account = 0; account < 10; account += 1) {
    for (let n = 0; n < 8; n += 1) take(`other-${account}`)
  }
  await settled()
  expect(begun).toHaveLength(64)
  begun[0]!()
  await settled()
  expect(begun).toHaveLength(65)
})

test('accounts take turns: none waits for all earlier requests of others', async () => {
  const slots = requestSlots({ total: 4, perAccount: 3 })
  const begun: { accountId: string; end: () => void }[] = []
  const take = (accountId: string) => {
    slots.take({ accountId, isFailing: false }).then(
      (end) => begun.push({ accountId, end }),
      () => undefined,
    )
  }
  for (let n = 0; n < 50; n += 1) take(n % 2 === 0 ? 'one' : 'other')
  take('victim')
  await new Promise<void>((resolve) => setImmediate(resolve))
  begun[0]!.end()
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect(begun.map(({ accountId }) => accountId)).toEqual([
    'one',
    'other',
    'one',
    'other',
    'victim',
  ])
})

test('failing receivers take at most half of the slots, per account and overall, so others need not wait for them', async () => {
  const { begun, take, settled } = taking(requestSlots())
  for (let n = 0; n < 20; n += 1) take('one', true)
  await settled()
  expect(begun).toHaveLength(4)
  take('one')
  await settled()
  expect(begun).toHaveLength(5)
  for (let account = 0; account < 20; account += 1) {
    for (let n = 0; n < 4; n += 1) take(`other-${account}`, true)
  }
  await settled()
  expect(begun).toHaveLength(33)
  take('another')
  await settled()
  expect(begun).toHaveLength(34)
})
