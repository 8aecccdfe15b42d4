import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { report } from '../../../commands/rebuild/report.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { positionReported, T0 } from '../../samples.ts'
import { rebuildableForEachTest } from './rebuild-harness.ts'

const DAY_MS = 86_400_000

const here = rebuildableForEachTest()
const { append, caughtUp, counts, damage, rebuild } = here

test.each([
  ['a record is missing', 'DELETE FROM records WHERE rowid = 5'],
  ['a count is wrong', 'UPDATE device_statuses SET report_count = report_count + 1'],
  ['a record is changed', 'UPDATE records SET latitude = 0 WHERE rowid = 5'],
  ['a device is missing', `DELETE FROM device_statuses WHERE device_id = 'tracker-2'`],
  [
    'all records of a device are missing',
    `DELETE FROM records WHERE device IN
      (SELECT number FROM device_statuses WHERE device_id = 'tracker-2')`,
  ],
  ['a time is wrong', 'UPDATE device_statuses SET last_seen_at = last_seen_at - 1'],
])('a rebuild finds that %s, and repairs it on request', async (_name, sql) => {
  await append(20)
  await append(5, 'tracker-2')
  await caughtUp()
  damage(sql)
  const damaged = await counts()
  // Later reports must neither hide the damage nor be mistaken for it.
  await append(3)
  await append(3, 'tracker-3')

  const refused = await rebuild()
  expect(refused).toMatchObject({ kind: 'different', compared: { equal: false } })
  expect(report(refused)).toContain('npm run rebuild -- --force')
  expect(await here.store.currentGeneration()).toBe(1)
  expect(existsSync(join(here.directory, 'read-models-2.sqlite'))).toBe(false)
  await caughtUp()
  const devices = Object.keys(await counts())
  expect(devices).toEqual([...Object.keys(damaged), 'tracker-3'])

  const forced = await rebuild({ force: true })
  expect(forced).toMatchObject({ kind: 'switched', compared: { equal: false, to: 3 } })
  await caughtUp()
  expect(await counts()).toEqual({
    'tracker-1': [23, 23],
    'tracker-2': [5, 5],
    'tracker-3': [3, 3],
  })
})

test('a rebuild ignores records that retention has removed or is about to remove', async () => {
  const at = (day: number, deviceId: string) =>
    positionReported({ deviceId, receivedAt: T0 + day * DAY_MS, timestamp: T0 + day * DAY_MS })
  await here.eventLog.append([
    at(0, 'silent'),
    at(0, 'both'),
    at(2, 'about to go'),
    at(5, 'both'),
    at(5, 'young'),
  ])
  await caughtUp()
  here.clock.time = T0 + 12 * DAY_MS - 1_000
  const owner = openSqliteStore({ directory: here.directory, retention: { wanted: 10 } })
  await owner.close()
  await here.eventLog.trim(T0 + 1 * DAY_MS)
  await here.store.expire(T0 + 1 * DAY_MS)
  expect(await counts()).toMatchObject({ both: [2, 1] })

  const outcome = await rebuild()
  expect(outcome).toMatchObject({
    kind: 'switched',
    compared: { equal: true, after: { records: { count: 2 }, devices: { count: 2 } } },
  })
  expect(await counts()).toMatchObject({ both: [1, 1], young: [1, 1], 'about to go': [1, 1] })
  damage(`UPDATE device_statuses SET last_seen_at = 0 WHERE device_id = 'both'`, 2)
  expect(await rebuild()).toMatchObject({ kind: 'different' })
})
