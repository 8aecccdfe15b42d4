import { expect, test } from '@jest/globals'
import { report } from '../../../commands/rebuild/report.ts'
import { makeDataOf020 } from '../../fixtures/version-0.2.0/data-of-0.2.0.ts'
import { positionReported, T0 } from '../../samples.ts'
import { rebuildableForEachTest } from './rebuild-harness.ts'

const here = rebuildableForEachTest({ prepare: makeDataOf020 })
const { caughtUp, counts, rebuild } = here

test('a rebuild after an upgrade from version 0.2.0 switches, and finds the keys of all devices', async () => {
  // The projector of this version continues the read models in place.
  const later = { recordId: '01KDVN9C040000000000000001', receivedAt: T0 + 60_000 }
  await here.eventLog.append([positionReported({ ...later, deviceId: 'late', keyId: 'key-3' })])
  await caughtUp()
  const before = await counts()
  expect(before).toMatchObject({ late: [3, 3], heard: [1, 1], 'same-time': [2, 2] })

  const outcome = await rebuild()
  expect(outcome).toMatchObject({ kind: 'switched', compared: { equal: true } })
  expect(report(outcome)).toContain('Another version made the old device statuses')
  expect(await counts()).toEqual(before)
  const devices = await here.store.pageDevices({ accountId: 'acc-1', limit: 9 })
  expect(devices.map(({ status }) => [status.deviceId, status.lastKeyId])).toEqual([
    ['erased', 'key-2'],
    ['heard', 'key-2'],
    ['heard-before', 'key-3'],
    ['late', 'key-3'],
    ['same-time', 'key-1'],
  ])
  expect(await rebuild()).toMatchObject({ compared: { equal: true, comparesDevices: true } })
})
