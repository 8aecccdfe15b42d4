import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { followDefinitions } from '../../../projector/facts/definitions.ts'
import { Database } from '../../../runtime/sqlite/database.ts'
import { BACK_OFFICE, openBackOffice } from '../../../store/back-office/open-back-office.ts'
import type { ChangesQuery } from '../../../store/definitions.ts'
import { ACCOUNTS_SCHEMA } from '../../../store/sqlite/accounts-schema.ts'
import { sqliteDeviceSettings } from '../../../store/sqlite/device-settings.ts'
import { makeTables, sqliteDocuments } from '../../../store/sqlite/documents.ts'
import { sqliteDeviceLives } from '../../../store/sqlite/hidden-devices.ts'
import { sqliteWatchSettings } from '../../../store/sqlite/fact-reads.ts'
import { newGeofence } from '../../contracts/store-definitions.ts'
import { T0 } from '../../samples.ts'

const accountId = 'harbour'
const clock = { time: T0, now: () => clock.time }
const pages: number[] = []
let database: Database

beforeEach(() => {
  clock.time = T0
  pages.length = 0
  database = new Database(':memory:', ACCOUNTS_SCHEMA)
  makeTables(database, BACK_OFFICE)
})

afterEach(() => database.close())

function open() {
  const lives = sqliteDeviceLives(database)
  const settings = sqliteDeviceSettings(database, lives)
  const backOffice = openBackOffice(sqliteDocuments(database), { ...settings, ...lives })
  const read = sqliteWatchSettings(database)
  const store = {
    ...backOffice,
    judgedDevices: async () => [],
    watchSettings: async (query: ChangesQuery) => {
      const page = read(query)
      pages.push(page.changes.length)
      return page
    },
  }
  return { settings, backOffice, definitions: followDefinitions(store, clock) }
}

test('with 10 000 labelled devices, a refresh without changes reads none of them, and the first refresh reads few at a time', async () => {
  database.exec(
    `WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
     INSERT INTO device_settings (account_id, device_id, disabled, changed_at, labels)
     SELECT '${accountId}', 'device-' || n, 0, ${T0}, char(10) || 'truck' || char(10) FROM numbers`,
  )
  const { settings, backOffice, definitions } = open()
  await backOffice.createGeofences([newGeofence({ accountId, labels: ['truck'] })])
  await definitions.prepare()
  expect(pages.reduce((sum, count) => sum + count)).toBe(10_000)
  expect(Math.max(...pages)).toBeLessThanOrEqual(500)
  // All are checked once: their intervals may have changed while no projector was running.
  expect(await definitions.refresh()).toHaveLength(10_000)
  for (let n = 0; n < 20; n += 1) {
    clock.time += 4_000
    pages.length = 0
    expect(await definitions.refresh()).toEqual([])
    expect(pages.reduce((sum, count) => sum + count)).toBe(0)
  }
  // A minute later the numbers of the last changes are no longer checked.
  expect(pages).toHaveLength(1)
  const device = { accountId, deviceId: 'device-7' }
  await settings.changeDeviceSettings({ ...device, labels: ['van'], changedAt: T0 })
  pages.length = 0
  expect(await definitions.refresh()).toMatchObject([device])
  expect(pages).toEqual([1])
})

test('a new name or interval of a device does not change since when its labels select it', async () => {
  const { settings, backOffice, definitions } = open()
  await backOffice.createGeofences([newGeofence({ accountId, labels: ['truck'] })])
  const device = { accountId, deviceId: 'van' }
  const change = async (fields: object, changedAt: number) => {
    await settings.changeDeviceSettings({ ...device, ...fields, changedAt })
    await definitions.refresh()
    return definitions.of(device).geofences.selectedSince
  }
  expect(await change({ labels: ['truck'] }, T0)).toBe(T0)
  expect(await change({ name: 'New' }, T0 + 10)).toBe(T0)
  expect(await change({ expectedIntervalSeconds: 60, disabled: true }, T0 + 20)).toBe(T0)
  expect(await change({ disabled: false, labels: ['truck'] }, T0 + 30)).toBe(T0)
  expect(await change({ labels: ['truck', 'red'] }, T0 + 40)).toBe(T0 + 40)
})

test('removed settings take effect, as do those of an erased device', async () => {
  const { settings, definitions } = open()
  const device = { accountId, deviceId: 'van' }
  const offlineAfter = async () => {
    await definitions.refresh()
    return definitions.of(device).offlineAfterMs
  }
  const usual = await offlineAfter()
  const slow = { ...device, expectedIntervalSeconds: 7_200 }
  await settings.changeDeviceSettings({ ...slow, changedAt: T0 })
  expect(await offlineAfter()).toBeGreaterThan(usual)
  settings.remove([device])
  expect(await offlineAfter()).toBe(usual)
  await settings.changeDeviceSettings({ ...slow, changedAt: T0 })
  expect(await offlineAfter()).toBeGreaterThan(usual)
  settings.forget({ ...device, eventId: 'erasure', erasedAt: T0 })
  expect(await offlineAfter()).toBe(usual)
})
