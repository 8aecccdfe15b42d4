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
    late: 'key-2',
    heard: '',
    'heard-before': 'key-3',
    'same-time': 'key-1',
    erased: 'key-2',
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
        ...common,
        deviceId: 'late',
        lastSeenAt: T0 + 20_000,
        reportCount: 2,
        lastKeyAt: T0 + 20_000,
        lastKeyEventId: '01KDVN9C000000000000000002',
        lastKeyId: 'key-2',
        applied: { 0: 2 },
        lastPosition: {
          ...position,
          recordId: '01KDVN9C000000000000000001',
          timestamp: T0 + 10_000,
          speed: 8,
          battery: 0.5,
        },
      },
    },
    {
      number: 2,
      status: {
        ...common,
        deviceId: 'heard',
        lastSeenAt: T0 + 20_000,
        reportCount: 1,
        lastKeyAt: T0 + 20_000,
        lastKeyEventId: '01KDVN9C000000000000000003',
        lastKeyId: '',
        applied: { 0: 4 },
        lastPosition: {
          ...position,
          recordId: '01KDVN9C000000000000000003',
          timestamp: T0 + 10_000,
        },
        heartbeats: { 0: { offset: 4, receivedAt: T0 + 20_000, eventId: '', keyId: '' } },
      },
    },
  ])
  const late = await models.pagePositions({
    accountId: 'acc-1',
    deviceId: 'late',
    order: 'asc',
    limit: 9,
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

/** The number of steps that the development version before this one had made. */
const BEFORE_TELEMETRY = 5

test('read models from before telemetry have the key that each device itself sent last', () => {
  const file = join(directory(), readModelsFile(1))
  const raw = new DatabaseSync(file)
  for (const step of READ_MODELS_SCHEMA.slice(0, BEFORE_TELEMETRY)) raw.exec(step)
  raw.exec(`PRAGMA user_version = ${BEFORE_TELEMETRY};
    INSERT INTO account_numbers VALUES (1, 'acc-1')`)
  let number = 0
  const device = (
    deviceId: string,
    records: readonly { id: string; at: number; key: string; imported?: true }[],
    heartbeats: string | null = null,
  ) => {
    number += 1
    const [first, last] = [records[0]!, records.at(-1)!]
    for (const { id, at, key, imported } of records) {
      raw.exec(`INSERT INTO records VALUES (1, ${number}, '${id}', '${key}', 1, 2, ${T0}, 'device',
        ${T0 + at}, 0, ${number}, NULL, NULL, NULL, NULL, NULL, NULL, ${imported ? 1 : 'NULL'})`)
    }
    raw
      .prepare(
        `INSERT INTO device_statuses VALUES (?, 'acc-1', ?, ?, 0, 0, ?, ?, ?, 1, 2, ?, ?, '{"0":9}', ?, ?,
         NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0)`,
      )
      .run(
        ...[number, deviceId, last.key, T0 + last.at, records.length, first.id],
        ...[T0, T0 + first.at, heartbeats, last === first ? null : last.id],
      )
  }
  const phone = { id: 'phone', at: 10, key: 'key-phone' }
  const history = { id: 'history', at: 90, key: 'key-import', imported: true } as const
  const heard = { offset: 5, receivedAt: T0 + 50, eventId: 'seen', keyId: 'key-seen' }
  device('live', [phone, { id: 'next', at: 20, key: 'key-next' }])
  device('imported', [
    { ...phone, id: 'phone-2' },
    { ...history, id: 'history-2' },
  ])
  device(
    'heard',
    [
      { ...phone, id: 'phone-3' },
      { ...history, id: 'history-3' },
    ],
    JSON.stringify({ 0: heard }),
  )
  device('history', [history])
  raw.close()

  const models = openReadModels(directory(), 1)
  const page = models.statuses.page({ accountId: 'acc-1', limit: 9 })
  models.close()
  const keys = page.map(({ deviceId, lastKeyId, lastKeyAt, lastKeyEventId }) => [
    ...[deviceId, lastKeyId, lastKeyAt, lastKeyEventId],
  ])
  expect(keys).toEqual([
    ['heard', 'key-seen', T0 + 50, 'seen'],
    ['history', '', 0, ''],
    ['imported', 'key-phone', T0 + 10, 'phone-2'],
    ['live', 'key-next', T0 + 20, 'next'],
  ])
  expect(page.map(({ lastReceivedAt }) => lastReceivedAt - T0)).toEqual([90, 90, 90, 20])
})
