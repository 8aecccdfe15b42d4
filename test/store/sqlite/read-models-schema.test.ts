import { expect, test } from '@jest/globals'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { READ_MODELS_SCHEMA } from '../../../store/sqlite/read-models-schema.ts'
import { openReadModels, readModelsFile } from '../../../store/sqlite/read-models.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { makeDataOf020 } from '../../fixtures/version-0.2.0/data-of-0.2.0.ts'
import { T0 } from '../../samples.ts'

const directory = directoryForEachTest()

/** `lastKeyId` of each device, after the migration. */
function lastKeys(): Record<string, string> {
  const models = openReadModels(directory(), 1)
  const page = models.statuses.page({ accountId: 'acc-1', limit: 9 })
  models.close()
  return Object.fromEntries(page.map(({ deviceId, lastKeyId }) => [deviceId, lastKeyId]))
}

test('a status of version 0.2.0 has the key of the record received last, and none after a newer heartbeat', () => {
  makeDataOf020(directory())
  expect(lastKeys()).toEqual({
    ...{ late: 'key-2', heard: '', 'heard-before': 'key-3', 'same-time': 'key-1', erased: 'key-2' },
  })
})

test('the read models of version 0.2.0 keep all else', async () => {
  makeDataOf020(directory())
  const models = openReadModels(directory(), 1)
  const find = (deviceId: string) => models.statuses.find({ accountId: 'acc-1', deviceId })
  const position = { latitude: 45.2735, longitude: 13.7142, receivedAt: T0 + 11_000 }
  const common = { accountId: 'acc-1', firstSeenAt: T0 + 11_000, lastReceivedAt: T0 + 20_000 }
  expect([find('late'), find('heard')]).toEqual([
    {
      number: 1,
      status: {
        ...{ ...common, deviceId: 'late', lastSeenAt: T0 + 20_000, reportCount: 2 },
        ...{ lastReceivedId: '01KDVN9C000000000000000002', lastKeyId: 'key-2', applied: { 0: 2 } },
        lastPosition: {
          ...{ ...position, recordId: '01KDVN9C000000000000000001', timestamp: T0 + 10_000 },
          ...{ speed: 8, battery: 0.5 },
        },
      },
    },
    {
      number: 2,
      status: {
        ...{ ...common, deviceId: 'heard', lastSeenAt: T0 + 20_000, reportCount: 1 },
        ...{ lastReceivedId: '01KDVN9C000000000000000003', lastKeyId: '', applied: { 0: 4 } },
        lastPosition: {
          ...{ ...position, recordId: '01KDVN9C000000000000000003', timestamp: T0 + 10_000 },
        },
        heartbeats: { 0: { offset: 4, receivedAt: T0 + 20_000, eventId: '', keyId: '' } },
      },
    },
  ])
  const late = await models.pagePositions({
    ...{ accountId: 'acc-1', deviceId: 'late', order: 'asc', limit: 9 },
  })
  expect(late).toMatchObject([{ keyId: 'key-2' }, { keyId: 'key-1', speed: 8 }])
  expect(models.checkpoint()).toEqual({ 0: 12 })
  expect(models.foldVersion()).toBe('mixed')
  models.close()
})

test('the number of a device that version 0.2.0 removed is never used again', () => {
  makeDataOf020(directory())
  const file = join(directory(), readModelsFile(1))
  const before = new DatabaseSync(file)
  before.exec('DELETE FROM device_statuses WHERE number = 5')
  before.close()
  openReadModels(directory(), 1).close()
  const raw = new DatabaseSync(file)
  const next = raw
    .prepare("SELECT name, seq FROM sqlite_sequence WHERE name LIKE '%statuses'")
    .all()
  const tables = raw.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'older%'").all()
  raw.close()
  expect(next).toEqual([{ name: 'device_statuses', seq: 5 }])
  expect(tables).toEqual([])
})

test('the key of an imported record is not that of a device, although it was received last', () => {
  makeDataOf020(directory())
  const raw = new DatabaseSync(join(directory(), readModelsFile(1)))
  // The development version after 0.2.0 had imports, but the same number.
  raw.exec(`${READ_MODELS_SCHEMA[1]}
    UPDATE records SET imported = 1 WHERE key_id = 'key-2'`)
  raw.close()
  expect(lastKeys()).toMatchObject({ late: 'key-1', 'same-time': 'key-1', erased: '' })
})

test('read models of version 0.2.0 that are migrated can be opened again', () => {
  makeDataOf020(directory())
  for (let times = 0; times < 2; times += 1) openReadModels(directory(), 1).close()
})
