import { expect, test } from '@jest/globals'
import { hideErasedAhead } from '../../admin-api/erasures-ahead.ts'
import type { EventLog } from '../../event-log/event-log.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import type { Store } from '../../store/store.ts'
import { batchOf, deviceErased } from '../contracts/store-samples.ts'
import { eventually } from '../eventually.ts'
import { logAndStoreForEachTest } from '../projector/log-and-store.ts'
import { positionReported, T0 } from '../samples.ts'

const logger = createLogger({ level: 'silent', name: 'test' })
const device = { accountId: 'acc-1', deviceId: 'tracker-1' }
const erasure = deviceErased({ ...device, erasedAt: T0 })

let eventLog: EventLog
let store: Store

logAndStoreForEachTest((opened) => ({ eventLog, store } = opened))

function hide(on: Partial<Pick<Store, 'checkpoint'>> = {}) {
  const { signal } = new AbortController()
  return hideErasedAhead({ eventLog, store: { ...store, ...on }, logger, signal })
}

const report = async (offset: number) => {
  const event = positionReported(device)
  await eventLog.append([event])
  return { kind: 'position', origin: { partition: 0, offset }, event } as const
}

const erased = { kind: 'erasure', origin: { partition: 0, offset: 2 }, event: erasure } as const

test('a device erased in the log is hidden although the store does not know the erasure', async () => {
  await store.project(batchOf(await report(1)))
  await store.changeDeviceSettings({ ...device, name: 'Anna', changedAt: T0 })
  await eventLog.erase(erasure)
  const again = await report(3)
  expect(await store.findDevice(device)).toBeDefined()
  const ahead = hide()
  expect(ahead.isReading()).toBe(true)
  await ahead.done
  expect(ahead.isReading()).toBe(false)
  expect(await store.findDevice(device)).toBeUndefined()

  await store.project(batchOf(erased, again))
  const found = await store.findDevice(device)
  expect(found).toMatchObject({ status: { reportCount: 1 }, settings: { disabled: false } })
  expect(found?.settings.name).toBeUndefined()
})

test('settings written after a device’s erasure stay', async () => {
  await store.project(batchOf(await report(1)))
  await eventLog.erase(erasure)
  await store.project(batchOf(erased, await report(3)))
  await store.changeDeviceSettings({ ...device, name: 'Anna', changedAt: T0 + 1 })
  await hide({ checkpoint: async () => ({ 0: 1 }) }).done
  expect((await store.findDevice(device))?.settings.name).toBe('Anna')
})

test('an unavailable store is asked until it answers', async () => {
  await store.project(batchOf(await report(1)))
  await eventLog.erase(erasure)
  let asked = 0
  const ahead = hide({
    async checkpoint() {
      asked += 1
      if (asked === 1) throw new Error('the store is away')
      return store.checkpoint()
    },
  })
  await eventually(async () => (await store.findDevice(device)) === undefined)
  await ahead.done
  expect(asked).toBe(2)
})

test('a store that is restored while the admin API runs shows no device that was erased since', async () => {
  await store.project(batchOf(await report(1)))
  await eventLog.erase(erasure)
  await report(3)
  const restored = await store.checkpoint()
  let checkpoint = { 0: 3 }
  const ahead = hide({ checkpoint: async () => checkpoint })
  await ahead.done
  checkpoint = { 0: 4 }
  await ahead.check()
  expect(await store.findDevice(device)).toBeDefined()
  checkpoint = { 0: restored[0] ?? 0 }
  await ahead.check()
  expect(await store.findDevice(device)).toBeUndefined()
})
