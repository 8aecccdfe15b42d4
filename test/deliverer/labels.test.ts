import { expect, test } from '@jest/globals'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { eventually } from '../eventually.ts'
import { accountId, startDeliveries, startReceiver } from './harness.ts'

test('entries that a subscription by labels does not want are passed over in pages, not one by one', async () => {
  const deliveries = await startDeliveries()
  const receiver = await startReceiver()
  await deliveries.appendPositions(1, { deviceId: 'van' })
  await deliveries.store.changeDeviceSettings({
    accountId,
    deviceId: 'van',
    changedAt: deliveries.clock.time,
    labels: ['vans'],
  })
  await deliveries.appendFacts(2_000, { deviceId: 'tug' })
  const [wanted] = await deliveries.appendFacts(1, { deviceId: 'van' })
  await deliveries.appendFacts(1_000, { deviceId: 'tug' })
  const [last] = await deliveries.appendFacts(1, { deviceId: 'van' })
  await deliveries.subscribe({ kind: 'webhook', url: receiver.url }, { labels: ['vans'] })
  await deliveries.startDeliverer().refresh()
  await eventually(() => receiver.received.length === 2)
  expect(receiver.ids()).toEqual([[wanted], [last]])
  // 1, 2, 4 … 500 entries at a time, and some of them twice.
  expect(deliveries.reads.feed).toBeLessThan(45)
  expect(deliveries.reads.devices).toBeLessThan(45)
})

test('subscriptions by labels look the labels of a device up together, not each for itself', async () => {
  const deliveries = await startDeliveries()
  const receiver = await startReceiver()
  await deliveries.appendPositions(1, { deviceId: 'van' })
  await deliveries.store.changeDeviceSettings({
    accountId,
    deviceId: 'van',
    changedAt: deliveries.clock.time,
    labels: ['vans'],
  })
  const start = await deliveries.appendFacts(1, { deviceId: 'van' })
  for (let n = 0; n < 20; n += 1) {
    await deliveries.subscribe({ kind: 'webhook', url: receiver.url }, { labels: ['vans'] })
  }
  await deliveries.startDeliverer().refresh()
  await eventually(() => receiver.received.length === 20)
  expect(receiver.ids().flat()).toEqual(Array.from({ length: 20 }, () => start[0]))
  expect(deliveries.reads.devices).toBeLessThan(5)
})

test('at the end of the log, entries that no label wants are read together, and a wanted one soon arrives', async () => {
  const deliveries = await startDeliveries()
  const receiver = await startReceiver()
  await deliveries.appendPositions(1, { deviceId: 'van' })
  await deliveries.store.changeDeviceSettings({
    accountId,
    deviceId: 'van',
    changedAt: deliveries.clock.time,
    labels: ['vans'],
  })
  await deliveries.subscribe({ kind: 'webhook', url: receiver.url }, { labels: ['vans'] })
  const deliverer = deliveries.startDeliverer()
  await deliverer.refresh()
  await deliveries.appendFacts(1, { deviceId: 'tug' })
  await eventually(() => deliveries.reads.feed >= 2)
  const begun = performance.now()
  const readBefore = deliveries.reads.feed
  for (let n = 0; n < 200; n += 1) {
    await deliveries.appendFacts(1, { deviceId: 'tug' })
    await endOfTurn()
  }
  const pauses = (performance.now() - begun) / 200
  expect(deliveries.reads.feed - readBefore).toBeLessThan(2 * pauses + 10)
  const [wanted] = await deliveries.appendFacts(1, { deviceId: 'van' })
  await eventually(() => receiver.received.length === 1)
  expect(receiver.ids()).toEqual([[wanted]])
})
