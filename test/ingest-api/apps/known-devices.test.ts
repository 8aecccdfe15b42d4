import { expect, jest, test } from '@jest/globals'
import { knownDevices } from '../../../ingest-api/apps/unplaced-devices.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { batchOf, LogOfOneSuite } from '../../contracts/store-samples.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { fakeTimers } from '../../fake-timers.ts'
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

test('while the store does not respond, a device is neither known nor unknown', async () => {
  const findDevice = () => Promise.reject(new DependencyError('away', { retriable: true }))
  const isKnown = knownDevices({ devices: { findDevice } })
  expect(await isKnown({ accountId: 'acc-1', deviceId: 'van' })).toBeUndefined()
})

test('a busy store delays a request by at most 50 ms, and gets at most 16 look-ups of an account and 64 in all', async () => {
  fakeTimers()
  const answers: (() => void)[] = []
  const findDevice = () =>
    new Promise<undefined>((resolve) => answers.push(() => resolve(undefined)))
  const isKnown = knownDevices({ devices: { findDevice } })
  const ask = (account: number, device: number) =>
    isKnown({ accountId: `acc-${account}`, deviceId: `van-${device}` })
  const ofOne = Array.from({ length: 600 }, (_, device) => ask(1, device))
  expect(answers).toHaveLength(16)
  // These do not wait at all.
  expect(await Promise.all(ofOne.slice(16))).toEqual(Array(584).fill(undefined))
  await jest.advanceTimersByTimeAsync(50)
  expect(await Promise.all(ofOne)).toEqual(Array(600).fill(undefined))
  // The store has not responded to one of them yet.
  expect(await ask(1, 601)).toBeUndefined()
  const ofOthers = Array.from({ length: 160 }, (_, device) => ask(2 + (device % 8), device))
  expect(answers).toHaveLength(64)
  for (const answer of answers) answer()
  await Promise.all(ofOthers)
  const unknown = ask(1, 602)
  answers.at(-1)?.()
  expect(await unknown).toBe(false)
  jest.useRealTimers()
})
