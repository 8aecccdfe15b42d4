import { beforeEach, expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { newSigningSecret } from '../../schemas/access/random-secrets.ts'
import { eventually } from '../eventually.ts'
import { startDeliveries, startReceiver, type Deliveries } from './harness.ts'

let deliveries: Deliveries
beforeEach(async () => {
  deliveries = await startDeliveries()
})

test.each([
  ['never respond', () => () => undefined],
  ['fail', () => 500],
])('receivers that %s delay no other subscription', async (_how, reply) => {
  const silent = await startReceiver(reply)
  const receiver = await startReceiver()
  for (let n = 0; n < 6; n += 1) {
    await deliveries.subscribe({ kind: 'webhook', url: silent.url })
  }
  await deliveries.appendFacts(1)
  const deliverer = deliveries.startDeliverer({ answersWithinMs: 3_000 })
  await deliverer.refresh()
  await deliveries.idle(6)
  await deliveries.pass(5_000)
  // Their second requests are in flight, up to their limit.
  await eventually(() => silent.received.length > 6)
  await deliveries.subscribe({ kind: 'webhook', url: receiver.url })
  await deliverer.refresh()
  await eventually(() => receiver.received.length === 1, { withinMs: 2_000 })
})

test('deliveries are at least everySeconds apart', async () => {
  const receiver = await startReceiver()
  const ids = await deliveries.appendFacts(3)
  await deliveries.subscribe({ kind: 'webhook', url: receiver.url }, { everySeconds: 60 })
  await deliveries.startDeliverer().refresh()
  for (const sent of [1, 2, 3]) {
    await eventually(() => receiver.received.length === sent)
    await deliveries.idle()
    await deliveries.pass(59_999)
    await deliveries.idle()
    expect(receiver.received).toHaveLength(sent)
    await deliveries.pass(1)
  }
  expect(receiver.ids().flat()).toEqual(ids)
})

test('if the log has lost the entries after the mark, a gap is sent first', async () => {
  let isDown = true
  const receiver = await startReceiver(() => (isDown ? 500 : 200))
  await deliveries.appendFacts(2)
  const { id } = await deliveries.subscribe({ kind: 'webhook', url: receiver.url })
  await deliveries.store.expireFacts(deliveries.clock.time + 1)
  const [kept] = await deliveries.appendFacts(1)
  await deliveries.startDeliverer().refresh()
  await eventually(async () => (await deliveries.find(id)).progress.deliveries === 1)
  isDown = false
  await deliveries.idle()
  await deliveries.pass(5_000)
  await eventually(() => receiver.ids().flat().at(-1) === kept)
  expect(receiver.ids().flat()).toEqual(['gap', 'gap', kept])
  const [first, second] = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(first).toBe(second)
})

test('while a secret is being replaced, requests are signed with both', async () => {
  const receiver = await startReceiver()
  const [old, current] = [newSigningSecret(), newSigningSecret()]
  const until = deliveries.clock.time + 1_000
  const signing = [{ secret: current }, { secret: old, until }]
  await deliveries.subscribe({ kind: 'webhook', url: receiver.url }, { signing })
  await deliveries.appendFacts(1)
  await deliveries.startDeliverer().refresh()
  await eventually(() => receiver.received.length === 1)
  await deliveries.pass(1_000)
  await deliveries.appendFacts(1)
  await eventually(() => receiver.received.length === 2)
  const verifies = (secret: string) =>
    receiver.received.map(({ body, headers }) => {
      const { now } = Date
      Date.now = () => deliveries.clock.time
      try {
        new Webhook(secret).verify(body, headers as Record<string, string>)
        return true
      } catch {
        return false
      } finally {
        Date.now = now
      }
    })
  expect([verifies(current), verifies(old)]).toEqual([
    [true, true],
    [true, false],
  ])
})
