import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import type { RebuildOutcome } from '../../../commands/rebuild/rebuild.ts'
import { report } from '../../../commands/rebuild/report.ts'
import { POSITION_REPORTED } from '../../../schemas/events/position-reported.ts'
import { eventually } from '../../eventually.ts'
import { positionReported, T0 } from '../../samples.ts'
import { rebuildableForEachTest } from './rebuild-harness.ts'

const here = rebuildableForEachTest()
const { append, caughtUp, counts, damage, rebuild } = here

test('a rebuild makes equal read models, switches, and removes the previous ones', async () => {
  const first = positionReported()
  await here.eventLog.append([first, { ...first, receivedAt: first.receivedAt + 5_000 }])
  await append(1_200)
  await append(300, 'tracker-2')
  await caughtUp()
  const before = await counts()

  const outcome = await rebuild()
  expect(outcome).toMatchObject({
    kind: 'switched',
    compared: { from: 1, to: 2, equal: true, after: { records: { count: 1_501 } } },
  })
  expect(await here.store.currentGeneration()).toBe(2)
  expect(await counts()).toEqual(before)
  expect(existsSync(join(here.directory, 'read-models-1.sqlite'))).toBe(false)
  await append(10)
  await caughtUp()
  expect(await counts()).toEqual({ 'tracker-1': [1_211, 1_211], 'tracker-2': [300, 300] })

  const digests = (from: RebuildOutcome) => from.kind === 'switched' && from.compared.before.records
  expect(await rebuild()).toMatchObject({ kind: 'switched', compared: { from: 2, to: 3 } })
  expect(digests(outcome)).toMatchObject({ count: 1_501 })
  expect(await counts()).toMatchObject({ 'tracker-1': [1_211, 1_211] })
})

test('a rebuild keeps the order of records with equal times, and the last position', async () => {
  const sent = Array.from({ length: 50 }, () => positionReported({ timestamp: T0, receivedAt: T0 }))
  // In random order of their ids; the last one repeats the first.
  const shuffled = sent.sort(() => Math.random() - 0.5)
  await here.eventLog.append([...shuffled, shuffled[0]!])
  await caughtUp()
  const { accountId, deviceId } = sent[0]!
  const read = async () => {
    const query = { accountId, deviceId, order: 'asc', limit: 99 } as const
    const records = await here.store.pagePositions(query)
    const device = await here.store.findDevice({ accountId, deviceId })
    return [...records.map(({ recordId }) => recordId), device?.status.lastPosition.recordId]
  }
  const ids = shuffled.map(({ recordId }) => recordId)
  expect(await read()).toEqual([...ids, ids.at(-1)])
  expect(await rebuild()).toMatchObject({ kind: 'switched', compared: { equal: true } })
  expect(await read()).toEqual([...ids, ids.at(-1)])
})

test('a rebuild omits nothing and hides nothing while reports keep coming', async () => {
  const seen = await append(2_000)
  await caughtUp()
  const stop = new AbortController()
  const sending = (async () => {
    for (let n = 0; !stop.signal.aborted; n += 1) {
      seen.push(...(await append(20, `tracker-${n % 7}`)))
      await new Promise(setImmediate)
    }
  })()
  const readable = new Set<string>()
  const reading = (async () => {
    for (let n = 0; !stop.signal.aborted; n += 1) {
      const recordId = seen[n % seen.length] ?? ''
      const found = await here.store.findPosition({ accountId: 'acc-1', recordId })
      if (found !== undefined) readable.add(recordId)
      else if (readable.has(recordId)) throw new Error(`${recordId} has vanished`)
      await new Promise(setImmediate)
    }
  })()
  // However slow the machine is, a hundred more are read at each stage.
  const hundredMore = () => {
    const enough = readable.size + 100
    const isEnough = () => eventually(() => readable.size >= enough, { withinMs: 30_000 })
    return Promise.race([isEnough(), reading])
  }
  const outcome = await rebuild({ hold: hundredMore })
  stop.abort()
  await sending
  await reading
  expect(readable.size).toBeGreaterThan(200)
  expect(outcome).toMatchObject({ kind: 'switched', compared: { equal: true } })
  await caughtUp()
  const all = Object.values(await counts())
  expect(all.reduce((sum, [counted]) => sum + counted, 0)).toBe(seen.length)
  for (const recordId of seen) {
    expect(await here.store.findPosition({ accountId: 'acc-1', recordId })).toBeDefined()
  }
})

test('a rebuild brings the old read models up to date if no projector runs', async () => {
  await append(5)
  await caughtUp()
  await here.stopProjector()
  await append(700, 'tracker-2')
  expect(await rebuild()).toMatchObject({
    kind: 'switched',
    compared: { equal: true, before: { records: { count: 705 } } },
  })
  expect(await counts()).toEqual({ 'tracker-1': [5, 5], 'tracker-2': [700, 700] })
})

test.each([
  ['an earlier version of the fold', 'UPDATE checkpoints SET fold_version = 0'],
  ['a version that recorded none', 'UPDATE checkpoints SET fold_version = NULL'],
])(
  'a rebuild compares only records, and says so, if %s wrote the device statuses',
  async (_name, sql) => {
    await append(20)
    await append(5, 'tracker-2')
    await caughtUp()
    damage(`${sql}; UPDATE device_statuses SET last_key_id = 'wrong'`)
    // The projector of this version continues the generation in place.
    await append(3)
    await caughtUp()
    damage('UPDATE records SET latitude = -latitude WHERE rowid = 5')
    const refused = await rebuild()
    expect(refused).toMatchObject({ kind: 'different', compared: { comparesDevices: false } })
    expect(report(refused)).toContain('Their records differ')

    damage('UPDATE records SET latitude = -latitude WHERE rowid = 5')
    const outcome = await rebuild()
    expect(outcome).toMatchObject({ kind: 'switched', compared: { equal: true } })
    expect(report(outcome)).toContain('The old device statuses are from another version')
    expect(report(outcome)).toContain('Their records are equal.')
    const devices = await here.store.pageDevices({ accountId: 'acc-1', keyId: 'key-1', limit: 9 })
    expect(devices).toHaveLength(2)

    damage(`UPDATE device_statuses SET last_key_id = 'wrong'`, 3)
    expect(await rebuild()).toMatchObject({
      kind: 'different',
      compared: { comparesDevices: true },
    })
  },
)

test('a rebuild does not duplicate dead letters', async () => {
  const database = new DatabaseSync(join(here.directory, 'log.sqlite'))
  const insert = database.prepare(
    'INSERT INTO events (key, type, id, received_at, value) VALUES (?, ?, ?, ?, ?)',
  )
  await append(1)
  insert.run('acc-1/tracker-1', POSITION_REPORTED, 'garbage', T0, Buffer.from('garbage'))
  database.close()
  await append(1)
  await caughtUp()
  const kept: number[] = []
  const counting = here.openLog()
  const outcome = await rebuild({
    eventLog: {
      subscribe: (subscription) => counting.subscribe(subscription),
      extent: () => counting.extent(),
      eventIdsAt: (offsets) => counting.eventIdsAt(offsets),
      deadLetters: {
        ...counting.deadLetters,
        async append(entries) {
          kept.push(entries.length)
        },
      },
    },
  })
  await counting.close()
  expect(outcome).toMatchObject({ kind: 'switched', compared: { equal: true } })
  expect(kept.filter((entries) => entries > 0)).toEqual([])
  expect(await here.eventLog.deadLetters.count()).toBe(1)
})

test('a stopped rebuild leaves the old read models in use and no leftovers', async () => {
  await append(600)
  await caughtUp()
  const stop = new AbortController()
  const screen = { write: (text: string) => text.startsWith('comparing') && stop.abort() }
  expect(await rebuild({ signal: stop.signal, screen })).toEqual({ kind: 'stopped' })
  expect(await here.store.currentGeneration()).toBe(1)
  expect(existsSync(join(here.directory, 'read-models-2.sqlite'))).toBe(false)
  expect(await rebuild({ signal: AbortSignal.abort() })).toEqual({ kind: 'stopped' })
  expect(await rebuild()).toMatchObject({ kind: 'switched', compared: { to: 4 } })
})

test('a rebuild refuses to start during another one', async () => {
  const other = await here.store.beginRebuild()
  const outcome = await rebuild()
  expect(outcome).toEqual({ kind: 'busy' })
  expect(report(outcome)).toContain('start this again')
  await other?.end()
})
