import { expect, test } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { accountId, startDeliveries, startReceiver } from './harness.ts'

test('a subscription by labels skips unwanted entries in pages, not one by one', async () => {
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

test("subscriptions by labels share one look-up of a device's labels", async () => {
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
