import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { deviceStatus, FOLD_VERSION } from '../../../projector/device-status.ts'
import type { DeviceStatus } from '../../../schemas/devices/read-models.ts'
import type { Fold, PositionEntry, ProjectionBatch } from '../../../store/read-models.ts'
import { openReadModels, type SqliteReadModels } from '../../../store/sqlite/read-models.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { positionReported, T0 } from '../../samples.ts'

const directory = directoryForEachTest()
let first: SqliteReadModels
let second: SqliteReadModels

beforeEach(() => {
  first = openReadModels(directory(), 1)
  second = openReadModels(directory(), 1)
})

afterEach(() => {
  first.close()
  second.close()
})

test('a device cached by the projection is dropped when another connection has written', async () => {
  await project(first, [entry(1, 'a')])
  await second.expire(T0 + 60_000, { seenBefore: T0 + 60_000, forget: () => undefined })
  await project(first, [entry(2, 'a')])
  expect(reports(first, 'a')).toBe(1)
  await project(second, [entry(3, 'a')])
  await project(first, [entry(4, 'a')])
  expect(reports(first, 'a')).toBe(3)
})

test('a device cached by the projection is dropped when the same connection has removed it', async () => {
  await project(first, [entry(1, 'a')])
  await first.expire(T0 + 60_000, { seenBefore: T0 + 60_000, forget: () => undefined })
  await project(first, [entry(2, 'a')])
  expect(reports(first, 'a')).toBe(1)
})

test('a device cached by the projection is dropped when its batch has failed', async () => {
  const both = [entry(1, 'a'), entry(2, 'b')]
  const fold = (previous: DeviceStatus | undefined, given: Parameters<Fold>[1]) => ({
    ...deviceStatus(previous, given as PositionEntry),
    ...(given.event.deviceId === 'b' && { reportCount: 'no number' as never }),
  })
  await expect(project(first, both, fold)).rejects.toThrow()
  expect(reports(first, 'a')).toBeUndefined()
  await project(first, both)
  expect([reports(first, 'a'), reports(first, 'b')]).toEqual([1, 1])
})

test('a device number is never reused', async () => {
  await project(first, [entry(1, 'a')])
  const { event } = entry(1, 'a')
  const before = first.statuses.find(event)?.number ?? NaN
  await first.expire(T0 + 60_000, { seenBefore: T0 + 60_000, forget: () => undefined })
  await project(second, [entry(2, 'b')])
  expect(second.statuses.find({ ...event, deviceId: 'b' })?.number).toBeGreaterThan(before)
})

test('a record projected while old devices are removed keeps its device while it exists', async () => {
  const old = Array.from({ length: 250 }, (_, n) =>
    entry(n, `device-${String(n).padStart(3, '0')}`),
  )
  await project(first, old)
  const last = old.at(-1)!.event
  const late = entry(1_000, last.deviceId)
  let projected: Promise<unknown> | undefined
  await first.expire(T0 + 60_000, {
    seenBefore: T0 + 60_000,
    // Between the first removed devices and the others.
    forget: () => {
      projected ??= new Promise(setImmediate).then(() => project(second, [late]))
    },
  })
  await projected
  expect(await first.findPosition(late.event)).toMatchObject({ deviceId: last.deviceId })
  expect(reports(first, last.deviceId)).toBe(2)

  await first.expire(T0 + 60_000, { seenBefore: T0 + 60_000, forget: () => undefined })
  expect(await first.findPosition(late.event)).toBeUndefined()
  expect(reports(first, last.deviceId)).toBeUndefined()
})

function entry(offset: number, deviceId: string): PositionEntry {
  const event = positionReported({ deviceId, timestamp: T0 + offset, receivedAt: T0 + offset })
  return { kind: 'position', origin: { partition: 0, offset }, event }
}

function project(
  models: SqliteReadModels,
  entries: readonly PositionEntry[],
  fold: ProjectionBatch['fold'] = deviceStatus,
) {
  const lastOffset = entries.at(-1)!.origin.offset
  return models.project({ partition: 0, lastOffset, entries, fold, foldVersion: FOLD_VERSION })
}

function reports(models: SqliteReadModels, deviceId: string): number | undefined {
  const { accountId } = entry(0, deviceId).event
  return models.statuses.find({ accountId, deviceId })?.status.reportCount
}
