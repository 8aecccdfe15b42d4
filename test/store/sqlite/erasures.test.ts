import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { join } from 'node:path'
import { countChanges } from '../../../projector/changes.ts'
import { deviceStatus } from '../../../projector/device-status.ts'
import { Database } from '../../../runtime/sqlite/database.ts'
import { sqliteErasures } from '../../../store/sqlite/erasures.ts'
import { READ_MODELS_SCHEMA } from '../../../store/sqlite/read-models-schema.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../../store/store.ts'
import {
  allDevices,
  allPositions,
  batchOf,
  deviceErased,
  everythingOf,
  LogOfOneSuite,
  type PositionEntry,
} from '../../contracts/store-samples.ts'
import type { ProjectionEntry } from '../../../store/read-models.ts'
import type { OpenedStore } from '../../contracts/store-suite.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { positionReported, T0 } from '../../samples.ts'
import { openTemporaryStore } from './open-sqlite-store.ts'

const DEVICE = { accountId: 'acc-1', deviceId: 'tracker-1' }

const directory = directoryForEachTest()
let opened: OpenedStore
let store: Store
let log: LogOfOneSuite

beforeEach(async () => {
  opened = await openTemporaryStore()
  store = opened.store
  log = new LogOfOneSuite()
})

afterEach(() => opened.close())

test('a record of another partition from after the erasure stays, and is counted', async () => {
  const at = (receivedAt: number, partition: number) =>
    log.append(positionReported({ timestamp: T0, receivedAt }), partition)
  const erasure = log.erase(deviceErased({ erasedAt: T0 + 5_000 }), 1)
  const behind = [at(T0 + 6_000, 3), at(T0 + 5_500, 3)] as const
  await store.project(batchOf(at(T0 + 4_000, 3), ...behind))
  await store.project(batchOf(erasure))
  const { statuses, records } = await everythingOf(store, 'acc-1')
  expect(new Set(records.map(({ recordId }) => recordId))).toEqual(
    new Set(behind.map(({ event }) => event.recordId)),
  )
  expect(statuses).toMatchObject([
    { reportCount: 2, firstSeenAt: T0 + 5_500, lastSeenAt: T0 + 6_000 },
  ])

  // In the other order, as a rebuild may read it, the same comes out.
  const rebuild = await store.beginRebuild()
  const built = await store.openGeneration(rebuild?.to ?? 0)
  await built.project(batchOf(erasure))
  await built.project({
    partition: 3,
    lastOffset: 9,
    fold: deviceStatus,
    entries: behind,
  })
  const [status] = await built.pageStatuses({ accountId: 'acc-1', limit: 9 })
  const used = await store.findDevice(DEVICE)
  expect(status?.lastPosition).toEqual(used?.status.lastPosition)
  expect(status?.reportCount).toBe(2)
  await built.close()
  await rebuild?.end()
})

test('a long history is removed in many turns, in which others read and write', async () => {
  await history(5_000)
  const generation = await store.openGeneration(1)
  let turns = 0
  let ended = false
  const others = (async () => {
    while (!ended) {
      turns += 1
      await store.changeDeviceSettings({ ...DEVICE, changedAt: T0, name: `turn ${turns}` })
      await new Promise(setImmediate)
    }
  })()
  await generation.project(batchOf(log.erase(deviceErased())))
  ended = true
  await others
  expect(turns).toBeGreaterThan(3)
  expect(await allPositions(store, 'acc-1', 'tracker-1')).toEqual([])
  await generation.close()
})

test('many erasures in one batch take many turns too', async () => {
  const devices = Array.from({ length: 20 }, (_, n) => `tracker-${n}`)
  for (const deviceId of devices) await history(500, deviceId)
  const erasures = devices.map((deviceId) => log.erase(deviceErased({ deviceId })))
  let turns = 0
  let ended = false
  const others = (async () => {
    for (; !ended; turns += 1) await new Promise(setImmediate)
  })()
  await store.project(batchOf(...(erasures as [ProjectionEntry, ...ProjectionEntry[]])))
  ended = true
  await others
  expect(turns).toBeGreaterThan(devices.length)
  expect(await allDevices(store, 'acc-1')).toEqual([])
})

test('a process that ends during a long erasure leaves the device hidden, and the erasure is repeated', async () => {
  await history(3_500)
  const erasure = deviceErased()
  const [erased, after] = [log.erase(erasure), log.append(positionReported())]
  await store.hideErased(erasure)
  const generation = await store.openGeneration(1)
  const asked = { accountId: 'acc-1', deviceIds: ['tracker-1'] }
  const broken = generation.project(batchOf(erased, after)).catch((error: unknown) => error)
  await new Promise(setImmediate)
  expect(await generation.erasedUpTo(asked)).toEqual(
    new Map([['tracker-1', { 0: erased.origin.offset }]]),
  )
  await generation.close()
  expect(await broken).toMatchObject({ name: 'DependencyError' })

  store = await opened.reopen()
  expect(await allDevices(store, 'acc-1')).toEqual([])
  expect(await allPositions(store, 'acc-1', 'tracker-1')).toEqual([])
  const { erasedAt } = erasure
  expect(await store.erasuresOf(asked)).toEqual(
    new Map([['tracker-1', { pending: true, upTo: {}, erasedAt }]]),
  )
  await store.project(batchOf(erased, after))
  const { statuses, records } = await everythingOf(store, 'acc-1')
  expect(statuses).toMatchObject([{ reportCount: 1 }])
  expect(records.map(({ recordId }) => recordId)).toEqual([after.event.recordId])
  expect(await store.erasuresOf(asked)).toEqual(
    new Map([['tracker-1', { pending: false, upTo: { 0: erased.origin.offset }, erasedAt }]]),
  )
})

test('an erasure that another process applies while this one begins it stays applied', async () => {
  const databases = [1, 2].map(
    () => new Database(join(directory(), 'read-models.sqlite'), READ_MODELS_SCHEMA),
  )
  const [one, other] = databases.map((database) => sqliteErasures(database))
  const event = deviceErased()
  const erasure = { origin: { partition: 0, offset: 1 }, event }
  one?.begin(erasure)
  other?.apply(erasure)
  one?.begin(erasure)
  expect(other?.isApplied(event.eventId)).toBe(true)
  for (const database of databases) database.close()
})

test('a repeated erasure delivered after a long history removes nothing of it', async () => {
  const event = deviceErased()
  await store.project(batchOf(log.append(positionReported()), log.erase(event)))
  await history(1_500)
  await store.project(batchOf(log.erase(event)))
  const device = await store.findDevice(DEVICE)
  expect(device?.status.reportCount).toBe(1_500)
  const page = await store.pagePositions({ ...DEVICE, order: 'asc', limit: 2_000 })
  expect(page).toHaveLength(1_500)
})

test('the later one of two erasures decides which records of another partition are gone', async () => {
  const first = log.erase(deviceErased({ erasedAt: T0 + 1_000 }))
  const second = log.erase(deviceErased({ erasedAt: T0 + 5_000 }))
  await store.project(batchOf(first, second))
  const late = log.append(positionReported({ timestamp: T0, receivedAt: T0 + 3_000 }), 3)
  expect(countChanges(await store.project(batchOf(late)))).toMatchObject({
    stored: 0,
    repeated: 0,
  })
  expect(await allDevices(store, 'acc-1')).toEqual([])
})

test('the mark that hid a device is removed by the next erasure, once it is projected', async () => {
  const own = openSqliteStore({ directory: directory() })
  const events = [deviceErased(), deviceErased(), deviceErased()] as const
  await own.hideErased(events[0])
  await own.hideErased(events[1])
  await own.project(batchOf(log.erase(events[0])))
  await own.hideErased(events[2])
  await own.close()
  const raw = new DatabaseSync(join(directory(), 'accounts.sqlite'))
  const rows = raw.prepare('SELECT event_id FROM hidden_devices').all() as { event_id: string }[]
  raw.close()
  expect(new Set(rows.map((row) => row.event_id))).toEqual(
    new Set([events[1].eventId, events[2].eventId]),
  )
})

async function history(length: number, deviceId = DEVICE.deviceId): Promise<void> {
  for (let start = 0; start < length; start += 500) {
    const entries = Array.from({ length: 500 }, () => log.append(positionReported({ deviceId })))
    await store.project(batchOf(...(entries as [PositionEntry, ...PositionEntry[]])))
  }
}
