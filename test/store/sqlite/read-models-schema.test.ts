import { expect, test } from '@jest/globals'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { READ_MODELS_SCHEMA } from '../../../store/sqlite/read-models-schema.ts'
import { openReadModels, readModelsFile } from '../../../store/sqlite/read-models.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { T0 } from '../../samples.ts'

const directory = directoryForEachTest()

/** Read models as version 0.2.0 left them: of `van` and `bus`, and of a device 9 that has been removed. */
function readModelsOf020(): string {
  const file = join(directory(), readModelsFile(1))
  const raw = new DatabaseSync(file)
  raw.exec(`PRAGMA journal_mode = WAL; ${READ_MODELS_SCHEMA[0]}; PRAGMA user_version = 1;
    INSERT INTO account_numbers VALUES (1, 'acc-1');`)
  const status = raw.prepare(`INSERT INTO device_statuses VALUES
    (?, 'acc-1', ?, 1, ?, ?, 3, ?, 52, 13, 4, 5, '{"0":8}', ?, 6, 7, 8, 9, 0.5, NULL, NULL)`)
  status.run(2, 'van', T0, T0, 'record-1', '{"0":{"offset":8,"receivedAt":6}}')
  status.run(3, 'bus', T0, T0, 'record-gone', null)
  status.run(9, 'gone', T0, T0, 'record-2', null)
  raw.exec(`DELETE FROM device_statuses WHERE number = 9;
    INSERT INTO records VALUES
      (1, 2, 'record-1', 'key-1', 52, 13, 4, 'device', 5, 0, 8, 6, 7, 8, 9, 0.5, NULL, NULL)`)
  raw.close()
  return file
}

test('the statuses of version 0.2.0 are given the key of their last position, and keep all else', () => {
  const file = readModelsOf020()
  const models = openReadModels(directory(), 1)
  const find = (deviceId: string) => models.statuses.find({ accountId: 'acc-1', deviceId })
  const statuses = [find('bus')?.status, find('van')?.status]
  models.close()
  const common = {
    ...{ accountId: 'acc-1', firstSeenAt: 1, lastSeenAt: T0, lastReceivedAt: T0, reportCount: 3 },
    applied: { 0: 8 },
  }
  const lastPosition = {
    ...{ latitude: 52, longitude: 13, timestamp: 4, receivedAt: 5 },
    ...{ accuracy: 6, altitude: 7, speed: 8, heading: 9, battery: 0.5 },
  }
  expect(statuses).toEqual([
    {
      ...{ ...common, deviceId: 'bus', lastReceivedId: 'record-gone', lastKeyId: '' },
      lastPosition: { ...lastPosition, recordId: 'record-gone' },
    },
    {
      ...{ ...common, deviceId: 'van', lastReceivedId: 'record-1', lastKeyId: 'key-1' },
      lastPosition: { ...lastPosition, recordId: 'record-1' },
      heartbeats: { 0: { offset: 8, receivedAt: 6, eventId: '', keyId: 'key-1' } },
    },
  ])
  const raw = new DatabaseSync(file)
  const next = raw
    .prepare("SELECT name, seq FROM sqlite_sequence WHERE name LIKE '%statuses'")
    .all()
  const tables = raw.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'keyless%'").all()
  raw.close()
  expect(next).toEqual([{ name: 'device_statuses', seq: 9 }])
  expect(tables).toEqual([])
})

test('read models of version 0.2.0 that are migrated can be opened again', () => {
  readModelsOf020()
  for (let times = 0; times < 2; times += 1) openReadModels(directory(), 1).close()
})
