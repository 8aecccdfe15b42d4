import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { batchReader } from '../../../event-log/sqlite/batch-reader.ts'
import { openLogDatabase } from '../../../event-log/sqlite/log-database.ts'
import type { Database } from '../../../runtime/sqlite/database.ts'
import { encodePositionReported } from '../../../schemas/events/position-reported.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { positionReported } from '../../samples.ts'

const folder = directoryForEachTest()
let database: Database

beforeEach(() => {
  database = openLogDatabase(join(folder(), 'log.sqlite'))
})

afterEach(() => database.close())

function put(value: Uint8Array): void {
  database
    .prepare('INSERT INTO events (key, type, id, received_at, value) VALUES (?, ?, ?, 0, ?)')
    .run('acc-1/tracker-1', 'PositionReported.v1', 'some id', value)
}

test('values keep their bytes: not cut at U+0000, and invalid bytes not replaced', () => {
  const event = positionReported({ deviceId: 'replacement \uFFFD' })
  const json = Buffer.from(encodePositionReported(event))
  const foreign = Buffer.from(json)
  foreign[foreign.indexOf(0xef)] = 0xff
  for (const value of [json, Buffer.concat([json, Buffer.from('\0 and more')]), foreign]) put(value)
  const origin = (offset: number) => ({ partition: 0, offset })
  expect(batchReader(database)(0)?.entries).toMatchObject([
    { kind: 'position', origin: origin(1), event },
    { kind: 'unreadable', origin: origin(2), reason: 'the value is not JSON' },
    { kind: 'unreadable', origin: origin(3), reason: 'the value is not UTF-8' },
  ])
})
