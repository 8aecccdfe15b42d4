import { beforeEach, expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { startDeliveries, startReceiver, type Deliveries } from './harness.ts'

let deliveries: Deliveries
beforeEach(async () => {
  deliveries = await startDeliveries()
})

test('two concurrent deliverers send every item once, in order', async () => {
  const receiver = await startReceiver()
  const { id } = await deliveries.subscribe({ kind: 'webhook', url: receiver.url })
  const both = [deliveries.startDeliverer(), deliveries.startDeliverer()]
  for (const deliverer of both) await deliverer.refresh()
  const ids: string[] = []
  for (let n = 0; n < 30; n += 1) {
    ids.push(...(await deliveries.appendFacts(1)))
    // The deliverer waiting for the other's lease checks again.
    await eventually(async () => {
      await deliveries.pass(0)
      return (await deliveries.find(id)).progress.deliveries > n
    })
  }
  expect(receiver.ids().flat()).toEqual(ids)
})

/** Responds to its first request only after `letGo`. */
async function startSlowReceiver() {
  let isFirst = true
  let letGo = () => {}
  const held = new Promise<void>((resolve) => (letGo = resolve))
  const receiver = await startReceiver(async () => {
    if (isFirst) {
      isFirst = false
      await held
    }
    return 200
  })
  return { receiver, letGo }
}

test('a deliverer that sleeps past its lease repeats nothing if the lease is still free', async () => {
  const { receiver, letGo } = await startSlowReceiver()
  const { id } = await deliveries.subscribe({ kind: 'webhook', url: receiver.url })
  const ids = await deliveries.appendFacts(2)
  await deliveries.startDeliverer().refresh()
  await eventually(() => receiver.received.length === 1)
  await deliveries.pass(11_000)
  letGo()
  await eventually(async () => (await deliveries.find(id)).progress.deliveries === 2)
  expect(receiver.ids().flat()).toEqual(ids)
})

test('a deliverer that sleeps past its lease cannot write once another has taken it; the other resends the items with the same ids', async () => {
  const { receiver, letGo } = await startSlowReceiver()
  const { id } = await deliveries.subscribe({ kind: 'webhook', url: receiver.url })
  const ids = await deliveries.appendFacts(2)
  await deliveries.startDeliverer().refresh()
  await eventually(() => receiver.received.length === 1)
  // The first one's request is in flight when its lease expires.
  await deliveries.pass(11_000)
  await deliveries.startDeliverer().refresh()
  await eventually(async () => (await deliveries.find(id)).progress.deliveries === 2)
  letGo()
  await eventually(() => receiver.received.length >= 3)
  // The first one waits for the lease.
  await deliveries.idle()
  expect(receiver.ids().flat()).toEqual([ids[0], ...ids])
  const { progress } = await deliveries.find(id)
  expect(progress.deliveries).toBe(2)
})

test('after a kill, the restarted deliverer continues immediately, another one once the lease has expired', async () => {
  const receiver = await startReceiver()
  const { id } = await deliveries.subscribe({ kind: 'webhook', url: receiver.url })
  const lease = { owner: 'embedded', until: deliveries.clock.time + 10_000 }
  await deliveries.command(id, (progress) => ({ ...progress, lease }))
  const [first] = await deliveries.appendFacts(1)
  await deliveries.startDeliverer().refresh()
  await deliveries.idle()
  expect(receiver.received).toEqual([])
  const own = deliveries.startDeliverer({ owner: 'embedded' })
  await own.refresh()
  await eventually(() => receiver.ids().flat().join() === first)
  await own.stop()
  const another = { owner: 'gone', until: deliveries.clock.time + 10_000 }
  await deliveries.command(id, (progress) => ({ ...progress, lease: another }))
  const [second] = await deliveries.appendFacts(1)
  await deliveries.idle()
  await deliveries.pass(10_000)
  await eventually(() => receiver.ids().flat().join() === [first, second].join())
})

test('a resent batch omits an erased device and has another id', async () => {
  let isDown = true
  const receiver = await startReceiver(() => (isDown ? 503 : 200))
  const target = { kind: 'webhook', url: receiver.url, batch: 10 } as const
  await deliveries.subscribe(target)
  const [kept] = await deliveries.appendFacts(1, { deviceId: 'van-1' })
  await deliveries.appendPositions(1, { deviceId: 'van-2' })
  const [erased] = await deliveries.appendFacts(1, { deviceId: 'van-2' })
  await deliveries.startDeliverer().refresh()
  await deliveries.idle()
  await deliveries.erase('van-2')
  isDown = false
  await deliveries.pass(5_000)
  await eventually(() => receiver.received.length === 2)
  expect(receiver.ids()).toEqual([[kept, erased], [kept]])
  const [one, other] = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(one).not.toBe(other)
})

test('a suspended account receives nothing, and continues where it stopped once reinstated', async () => {
  const receiver = await startReceiver()
  await deliveries.subscribe({ kind: 'webhook', url: receiver.url })
  deliveries.suspended.add('acc-1')
  const ids = await deliveries.appendFacts(2)
  const deliverer = deliveries.startDeliverer()
  await deliverer.refresh()
  await deliveries.idle()
  expect(receiver.received).toEqual([])
  expect(deliverer.figures().states.get('paused')).toBe(1)
  deliveries.suspended.clear()
  await deliveries.pass(1_000)
  await eventually(() => receiver.ids().flat().join() === ids.join())
})

/** A deliverer whose requests for the account reach the limit until `letGo`. */
async function startBusyDeliverer() {
  let letGo = () => {}
  const held = new Promise<void>((resolve) => (letGo = resolve))
  const slow = await startReceiver(() => held.then(() => 200))
  const [fact] = await deliveries.appendFacts(1)
  for (let n = 0; n < 8; n += 1) await deliveries.subscribe({ kind: 'webhook', url: slow.url })
  const deliverer = deliveries.startDeliverer()
  await deliverer.refresh()
  await eventually(() => slow.received.length === 8)
  /** Another subscription; the deliverer has read its items. */
  const subscribe = async (url: string) => {
    const { feed } = deliveries.reads
    const subscription = await deliveries.subscribe({ kind: 'webhook', url, batch: 10 })
    await deliverer.refresh()
    await eventually(() => deliveries.reads.feed > feed)
    await new Promise((resolve) => setImmediate(resolve))
    return subscription
  }
  return { fact, letGo, subscribe }
}

test('items that another deliverer sent while they waited for a slot are not resent', async () => {
  const { fact, letGo, subscribe } = await startBusyDeliverer()
  const receiver = await startReceiver()
  const { id } = await subscribe(receiver.url)
  const other = deliveries.startDeliverer()
  await other.refresh()
  await eventually(async () => (await deliveries.find(id)).progress.deliveries === 1)
  await other.stop()
  await deliveries.pass(11_000)
  letGo()
  const [next] = await deliveries.appendFacts(1)
  await eventually(() => receiver.ids().flat().includes(next!))
  expect(receiver.ids()).toEqual([[fact], [next]])
})

test('items of a device erased while they waited for a slot are omitted', async () => {
  const { fact, letGo, subscribe } = await startBusyDeliverer()
  const receiver = await startReceiver()
  await deliveries.appendPositions(1, { deviceId: 'van-2' })
  await deliveries.appendFacts(1, { deviceId: 'van-2' })
  await subscribe(receiver.url)
  await deliveries.erase('van-2')
  const now = performance.now.bind(performance)
  performance.now = () => now() + 1_000
  try {
    letGo()
    await eventually(() => receiver.received.length === 1)
    expect(receiver.ids()).toEqual([[fact]])
  } finally {
    performance.now = now
  }
})
