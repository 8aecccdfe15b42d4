import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { join } from 'node:path'
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

test('a long history is removed in many turns, between which others read and write', async () => {
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

test('a device counts as erased from the first turn of a long erasure on, which stays pending', async () => {
  await history(3_500)
  const erasure = deviceErased()
  const erased = log.erase(erasure)
  await store.hideErased(erasure)
  const generation = await store.openGeneration(1)
  const asked = { accountId: 'acc-1', deviceIds: ['tracker-1'] }
  const broken = generation.project(batchOf(erased)).catch((error: unknown) => error)
  await new Promise(setImmediate)
  const upTo = { 0: erased.origin.offset }
  expect(await generation.erasedUpTo(asked)).toEqual(new Map([['tracker-1', upTo]]))
  await generation.close()
  expect(await broken).toMatchObject({ name: 'DependencyError' })

  store = await opened.reopen()
  const { erasedAt } = erasure
  expect(await store.erasuresOf(asked)).toEqual(
    new Map([['tracker-1', { pending: true, upTo: {}, erasedAt }]]),
  )
  await store.project(batchOf(erased))
  expect(await store.erasuresOf(asked)).toEqual(
    new Map([['tracker-1', { pending: false, upTo, erasedAt }]]),
  )
})

test('an erasure that another process applies while this one starts it stays applied', async () => {
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
