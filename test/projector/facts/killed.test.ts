import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, jest, test } from '@jest/globals'
import type { ProjectionEntry } from '../../../store/read-models.ts'
import {
  copyFiles,
  disarm,
  FaultyDatabase,
  killProcess,
  newProcess,
} from '../../model/faulty-driver.ts'
import { ownDirectory } from '../../own-directory.ts'
import { positionReported, T0 } from '../../samples.ts'
import { DEGREE_METRES, geofence, HOME, rule } from './judging.ts'

jest.unstable_mockModule('@photostructure/sqlite', () => ({ DatabaseSync: FaultyDatabase }))

const { openSqliteStore } = await import('../../../store/sqlite/sqlite-store.ts')
const { startJudging } = await import('../../model/judging.ts')

const accountId = 'acc-1'
const clock = { time: T0, now: () => clock.time }

function position(offset: number, { seconds, north }: { seconds: number; north: number }) {
  const time = T0 + seconds * 1_000
  const latitude = HOME.latitude + north / DEGREE_METRES
  const fields = { accountId, recordId: `record-${offset}`, speed: 20, receivedAt: time }
  const event = positionReported({ ...HOME, ...fields, latitude, timestamp: time })
  return { kind: 'position', origin: { partition: 0, offset }, event } as const
}

test('after kill -9, entries judged again decide nothing by a later geofence or rule', async () => {
  const folder = await ownDirectory()
  const [first, second] = [join(folder, '1'), join(folder, '2')]
  const log: ProjectionEntry[] = [position(0, { seconds: 0, north: 500 })]
  mkdirSync(first)
  newProcess(() => copyFiles(first, second))
  const killed = startJudging(openSqliteStore({ directory: first, clock }), log, { clock })
  await killed.store.beginFacts({})
  await killed.project()
  expect(await killed.store.pageFacts({ accountId, limit: 9 })).toHaveLength(1)
  // These decide nothing, so their states are written later.
  log.push(position(1, { seconds: 60, north: 0 }), position(2, { seconds: 500, north: 0 }))
  log.push(position(3, { seconds: 560, north: 500 }))
  clock.time = T0 + 560_000
  await killed.project()
  killProcess()
  await Promise.allSettled([killed.store.close()])
  disarm()

  newProcess(() => undefined)
  const revived = startJudging(openSqliteStore({ directory: second, clock }), log, { clock })
  const { store } = revived
  try {
    const judged = (await store.factsProgress())?.[0]
    clock.time = T0 + 600_000
    const made = { changedAt: clock.time, createdAt: clock.time }
    const yard = geofence(made)
    const fast = rule({ ...made, when: { field: 'speed', above: 10 } })
    const stopped = rule({ ...made, when: { stopped: true } })
    const away = rule({ ...made, when: { outside: yard.id } })
    await store.createGeofences([yard])
    for (const one of [fast, stopped, away]) await store.createRule(one)
    await revived.project()
    await revived.sweep()
    const told = async () =>
      (await store.pageFacts({ accountId, limit: 100 }))
        .map(({ type, at }) => [type, (at - T0) / 1_000])
        .reverse()
    expect(judged).toBe(0)
    expect(await told()).toEqual([['device.online', 0]])
    log.push(position(4, { seconds: 660, north: 0 }))
    clock.time = T0 + 660_000
    await revived.project()
    expect(await told()).toEqual([
      ['device.online', 0],
      ['geofence.entered', 660],
      ['rule.raised', 660],
    ])
  } finally {
    await store.close()
  }
})
