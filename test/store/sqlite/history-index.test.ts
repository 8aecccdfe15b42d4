import { expect, test } from '@jest/globals'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { Database } from '../../../runtime/sqlite/database.ts'
import type { PositionRecord } from '../../../schemas/read-models.ts'
import { ulid } from '../../../schemas/record-id.ts'
import { READ_MODELS_SCHEMA, useHistoryIndex } from '../../../store/sqlite/read-models-schema.ts'
import { openReadModels, readModelsFile } from '../../../store/sqlite/read-models.ts'
import { sqliteRecords } from '../../../store/sqlite/records.ts'
import { batchOf, LogOfOneSuite } from '../../contracts/store-samples.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { positionReported, T0 } from '../../samples.ts'

const directory = directoryForEachTest()
const DEVICE = { accountId: 'acc-1', deviceId: 'van' }
/** Descending, while the log ascends. */
const IDS = [9, 8, 7, 6, 5].map((n) => ulid(T0, Buffer.alloc(10, n)))

function fileOf(generation = 1): string {
  return join(directory(), readModelsFile(generation))
}

/** A file as it was before the order of the log counted: five records of one minute. */
async function makeOlderFile(): Promise<void> {
  const log = new LogOfOneSuite()
  const [first, ...others] = IDS.map((recordId) =>
    log.append(positionReported({ ...DEVICE, recordId, timestamp: T0, receivedAt: T0 + 1 })),
  )
  const models = openReadModels(directory(), 1)
  await models.project(batchOf(first!, ...others))
  models.close()
  const raw = new DatabaseSync(fileOf())
  raw.exec(`DROP INDEX records_by_place;
    CREATE INDEX records_by_time ON records (device, timestamp, record_id);
    ALTER TABLE device_statuses DROP COLUMN last_partition;
    ALTER TABLE device_statuses DROP COLUMN last_offset;
    ALTER TABLE device_statuses RENAME COLUMN last_key_event_id TO last_received_id;
    ALTER TABLE device_statuses DROP COLUMN last_key_at;
    ALTER TABLE device_statuses DROP COLUMN readings;
    PRAGMA user_version = ${READ_MODELS_SCHEMA.findIndex((step) => step.includes('last_partition'))}`)
  raw.close()
}

function indexes(): string[] {
  const raw = new DatabaseSync(fileOf(), { readOnly: true })
  const rows = raw
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'records'`)
    .all() as { name: string }[]
  raw.close()
  return rows.map(({ name }) => name).sort()
}

test('a file of an earlier version shows its records in the order of the log, and gets the smaller index', async () => {
  await makeOlderFile()
  const models = openReadModels(directory(), 1)
  const read = await models.pagePositions({ ...DEVICE, order: 'asc', limit: 9 })
  expect(read.map(({ recordId }) => recordId)).toEqual(IDS)
  const log = new LogOfOneSuite()
  IDS.forEach(() => log.append(positionReported()))
  const equal = positionReported({
    ...DEVICE,
    timestamp: T0,
    receivedAt: T0 + 1,
    recordId: ulid(T0, Buffer.alloc(10, 1)),
  })
  await models.project(batchOf(log.append(equal)))
  expect(models.statuses.find(DEVICE)?.status).toMatchObject({
    lastPosition: { recordId: equal.recordId },
    lastOrigin: { partition: 0, offset: IDS.length },
  })
  models.close()
  expect(indexes()).toEqual(['records_by_age', 'records_by_id', 'records_by_place'])
})

test('a large file of an earlier version keeps its index, and shows the same order page by page', async () => {
  await makeOlderFile()
  const database = new Database(fileOf(), READ_MODELS_SCHEMA)
  useHistoryIndex(database, { most: IDS.length - 1 })
  const records = sqliteRecords(database)
  for (const order of ['asc', 'desc'] as const) {
    const seen: PositionRecord[] = []
    for (let n = 0; n < IDS.length; n += 1) {
      const after = seen.at(-1)
      const query = { ...DEVICE, order, limit: 1, ...(after && { after }) }
      seen.push(...(await records.pagePositions(query)))
    }
    const ids = order === 'asc' ? IDS : [...IDS].reverse()
    expect(seen.map(({ recordId }) => recordId)).toEqual(ids)
  }
  database.close()
  expect(indexes()).toEqual(['records_by_age', 'records_by_id', 'records_by_time'])
})

test('a new file orders its records without the longer index', () => {
  openReadModels(directory(), 1).close()
  expect(indexes()).toEqual(['records_by_age', 'records_by_id', 'records_by_place'])
})
