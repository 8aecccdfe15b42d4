import { expect, test } from '@jest/globals'
import { knownDevices } from '../../../ingest-api/apps/known-devices.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { batchOf, LogOfOneSuite } from '../../contracts/store-samples.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { positionReported } from '../../samples.ts'

const directory = directoryForEachTest()

test('a device is known once a position of it is stored, in its own account', async () => {
  const store = openSqliteStore({ directory: directory() })
  const isKnown = knownDevices({ devices: store })
  const van = { accountId: 'acc-1', deviceId: 'van' }
  expect(await isKnown(van)).toBe(false)
  await store.project(batchOf(new LogOfOneSuite().append(positionReported(van))))
  expect(await isKnown(van)).toBe(true)
  expect(await isKnown({ ...van, accountId: 'acc-2' })).toBe(false)
  await store.close()
  // It is remembered.
  expect(await isKnown(van)).toBe(true)
})

test('without an answer of the store a device counts as known', async () => {
  const findDevice = () => Promise.reject(new DependencyError('away', { retriable: true }))
  const isKnown = knownDevices({ devices: { findDevice } })
  expect(await isKnown({ accountId: 'acc-1', deviceId: 'van' })).toBe(true)
})
