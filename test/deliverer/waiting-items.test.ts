import { beforeEach, expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { startDeliveries, startReceiver, type Deliveries } from './harness.ts'

let deliveries: Deliveries
beforeEach(async () => {
  deliveries = await startDeliveries()
})

const waitingFor = async (id: string) => {
  const { count, more } = (await deliveries.find(id)).progress.waiting ?? {}
  return { count, more }
}
const counts = async (id: string, count: number, more = false) => {
  await eventually(async () => (await waitingFor(id)).count === count)
  expect(await waitingFor(id)).toEqual({ count, more })
}

test('while a receiver fails, the matching items that wait are counted every minute', async () => {
  let isDown = true
  const receiver = await startReceiver(() => (isDown ? 500 : 200))
  await deliveries.appendFacts(5)
  await deliveries.appendFacts(3, { deviceId: 'van-2' })
  const target = { kind: 'webhook', url: receiver.url, batch: 2 } as const
  const { id } = await deliveries.subscribe(target, { deviceIds: ['van-1'] })
  await deliveries.startDeliverer().refresh()
  await counts(id, 5)
  await deliveries.appendFacts(2)
  for (const seconds of [5, 30, 60]) {
    await deliveries.idle()
    await deliveries.pass(seconds * 1_000)
  }
  await counts(id, 7)
  isDown = false
  await deliveries.idle()
  await deliveries.pass(60_000)
  await eventually(() => receiver.received.at(-1)?.json.data.items?.length === 1)
  await eventually(async () => (await deliveries.find(id)).progress.waiting === undefined)
})

test('an item that arrived or was set aside no longer waits', async () => {
  let first = 500
  const ids = await deliveries.appendFacts(4)
  const reply = (status: number) => (request: { readonly body: string }) =>
    request.body.includes(ids[0]!) ? (status === 422 ? 422 : first) : 500
  const subscribed = []
  for (const status of [200, 422]) {
    const { url } = await startReceiver(reply(status))
    subscribed.push(await deliveries.subscribe({ kind: 'webhook', url }))
  }
  await deliveries.startDeliverer().refresh()
  for (const { id } of subscribed) await counts(id, 4)
  first = 200
  for (const seconds of [5, 30]) {
    await deliveries.idle(2)
    await deliveries.pass(seconds * 1_000)
  }
  for (const { id } of subscribed) await counts(id, 3)
})

test('a disabled subscription shows its number of waiting items; two deliverers store one count', async () => {
  const receiver = await startReceiver(() => 410)
  const { id } = await deliveries.subscribe({ kind: 'webhook', url: receiver.url })
  await deliveries.appendFacts(4)
  for (const deliverer of [deliveries.startDeliverer(), deliveries.startDeliverer()]) {
    await deliverer.refresh()
  }
  await counts(id, 4)
  await deliveries.appendFacts(6)
  await deliveries.idle(2)
  await deliveries.pass(60_000)
  await counts(id, 10)
})
