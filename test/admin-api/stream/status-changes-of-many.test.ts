import { expect, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { statuses } from './event-source.ts'
import { startStreaming } from './stream-harness.ts'

let asked = 0
let looks = 0
/** How often the store was queried for devices within one event-loop turn. */
let inOneTurn = 0

async function startWithMany() {
  let inThisTurn = 0
  asked = looks = inOneTurn = 0
  const { clock, createKey, eventLog, listen, project, store } = await startStreaming({
    wrapStore: (store) => ({
      ...store,
      async findDevices(query) {
        asked += query.deviceIds.length
        if (query.deviceIds.length > 1) inOneTurn = Math.max(inOneTurn, (inThisTurn += 1))
        setImmediate(() => (inThisTurn = 0))
        return store.findDevices(query)
      },
      devicesWithInterval(accountId) {
        looks += 1
        return store.devicesWithInterval(accountId)
      },
    }),
  })
  await createKey()
  const ids = Array.from({ length: 1_200 }, (_, index) => `buoy-${index}`)
  const now = clock.now()
  for (const deviceId of ids) {
    const device = { accountId: 'acc-1', deviceId, changedAt: now }
    await store.changeDeviceSettings({ ...device, expectedIntervalSeconds: 3_600 })
  }
  await eventLog.append(ids.map((deviceId) => positionReported({ deviceId, receivedAt: now })))
  project()
  await eventually(() => store.findDevice({ accountId: 'acc-1', deviceId: 'buoy-1199' }))
  return { clock, source: await listen(), ids }
}

async function nextLooks(): Promise<void> {
  const before = looks
  await eventually(() => looks > before + 3)
}

test('none of 1200 devices with their own intervals is read again before its status can change, then all are', async () => {
  const { clock, source, ids } = await startWithMany()
  await eventually(() => statuses(source).length === ids.length)
  await nextLooks()
  asked = 0
  clock.time += 1_000
  await nextLooks()
  expect(asked).toBe(0)
  clock.time += 2 * 3_600_000
  await eventually(() => statuses(source).length === 2 * ids.length)
  expect(statuses(source).slice(ids.length).sort()).toEqual(ids.map((id) => `${id} idle`).sort())
})

test('a few hundred of 1200 devices are read at a time, and other work runs in between', async () => {
  await startWithMany()
  await nextLooks()
  expect(asked).toBeGreaterThan(1_200)
  expect(inOneTurn).toBe(1)
})
