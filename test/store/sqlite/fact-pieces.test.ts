import { DatabaseSync } from '@photostructure/sqlite'
import { join } from 'node:path'
import { afterEach, expect, test } from '@jest/globals'
import type { FactState } from '../../../schemas/facts/fact-state.ts'
import type { DeviceFact } from '../../../schemas/facts/facts.ts'
import { ulid } from '../../../schemas/events/record-id.ts'
import type { JudgeDevice } from '../../../store/facts.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../../store/store.ts'
import { countTurns } from '../../count-turns.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { T0 } from '../../samples.ts'
import { BEFORE_SEQUENCES } from './before-sequences.ts'

const accountId = 'acc-1'
const [van, tug, bus] = ['van', 'tug', 'bus'].map((deviceId) => ({ accountId, deviceId })) as [
  Name,
  Name,
  Name,
]
type Name = { readonly accountId: string; readonly deviceId: string }
const directory = directoryForEachTest()
let opened: Store[] = []

afterEach(async () => {
  for (const store of opened) await store.close()
  opened = []
})

function open(): Store {
  const store = openSqliteStore({ directory: directory(), clock: { now: () => T0 } })
  opened.push(store)
  return store
}

async function begun(): Promise<Store> {
  const store = open()
  await store.beginFacts({ 0: 0 })
  return store
}

/** The state that a crash would leave. */
function inFile<Row>(sql: string): Row[] {
  const raw = new DatabaseSync(join(directory(), 'facts.sqlite'))
  try {
    return raw.prepare(sql).all() as Row[]
  } finally {
    raw.close()
  }
}

function change(sql: string): void {
  const raw = new DatabaseSync(join(directory(), 'facts.sqlite'))
  raw.exec(sql)
  raw.close()
}

function state(offset: number, changes: Partial<FactState> = {}): FactState {
  return { sequence: 0, applied: { 0: offset }, due: null, ...changes }
}

function fact(device: Name, sequence = 1): DeviceFact {
  const id = ulid(T0, Buffer.alloc(10, `${device.deviceId}${sequence}`))
  const common = { ...device, id, sequence, at: T0, decidedAt: T0, inside: [] }
  return { ...common, type: 'device.online', previous: null }
}

function deciding(device: Name, offset: number, facts: readonly DeviceFact[]): JudgeDevice {
  return {
    ...device,
    judge: (before) =>
      (before?.applied[0] ?? 0) >= offset
        ? undefined
        : { state: state(offset, { sequence: facts.length }), facts },
  }
}

async function stateOf(store: Store, device: Name): Promise<FactState | undefined> {
  let found: FactState | undefined
  await store.judgeFacts({ devices: [{ ...device, judge: (now) => void (found = now) }] })
  return found
}

function spin(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

const REFUSING = `CREATE TRIGGER refusing BEFORE INSERT ON facts WHEN NEW.device_id = 'tug'
  BEGIN SELECT RAISE(ABORT, 'refused'); END`

test('a device whose facts the file rejects is skipped: the others of its batch are written, and the next batch is judged', async () => {
  const store = await begun()
  await store.judgeFacts({
    read: { partition: 0, lastOffset: 1 },
    devices: [deciding(bus, 1, [])],
  })
  change(REFUSING)
  const batch = {
    read: { partition: 0, after: 1, lastOffset: 3 },
    devices: [deciding(van, 2, [fact(van)]), deciding(tug, 3, [fact(tug)])],
  }
  const { facts, failed } = await store.judgeFacts(batch)
  expect(facts).toEqual([fact(van)])
  expect(failed).toMatchObject([{ ...tug, error: expect.anything() }])
  expect(await store.factsProgress()).toEqual({ 0: 3 })
  expect(await stateOf(store, van)).toMatchObject({ sequence: 1 })
  expect(await stateOf(store, tug)).toBeUndefined()
  expect(await stateOf(store, bus)).toEqual(state(1))
  expect(await store.pageFacts({ accountId, limit: 9 })).toEqual([fact(van)])
  change('DROP TRIGGER refusing')
  const next = { read: { partition: 0, after: 3, lastOffset: 4 } }
  await store.judgeFacts({ ...next, devices: [deciding(tug, 4, [fact(tug)])] })
  expect(await store.pageFacts({ accountId, deviceId: 'tug', limit: 9 })).toEqual([fact(tug)])
})

test('after a failed transaction no state is lost, and the batch can be tried again', async () => {
  const store = await begun()
  await store.judgeFacts({
    read: { partition: 0, lastOffset: 1 },
    devices: [deciding(van, 1, [])],
  })
  const batch = {
    read: { partition: 0, after: 1, lastOffset: 3 },
    devices: [deciding(bus, 2, []), deciding(tug, 3, [fact(tug)])],
  }
  change('ALTER TABLE facts RENAME TO away')
  await expect(store.judgeFacts(batch)).rejects.toThrow('no such table')
  change('ALTER TABLE away RENAME TO facts')
  expect(await store.factsProgress()).toEqual({ 0: 1 })
  expect(await stateOf(store, van)).toEqual(state(1))
  expect(await stateOf(store, tug)).toBeUndefined()
  expect((await store.judgeFacts(batch)).facts).toEqual([fact(tug)])
  expect(await stateOf(store, bus)).toEqual(state(2))
  expect(await store.factsProgress()).toEqual({ 0: 3 })
})

test('a report is judged while many due devices are judged, and both decide alternately about the same device', async () => {
  const store = await begun()
  const ended: string[] = []
  const many = Array.from({ length: 300 }, (_, n) => ({ accountId, deviceId: `due-${n}` }))
  const counting = (device: Name, ms: number): JudgeDevice => ({
    ...device,
    judge(before) {
      spin(ms)
      const sequence = (before?.sequence ?? 0) + 1
      return { state: { ...state(1), sequence }, facts: [fact(device, sequence)] }
    },
  })
  const last = many.at(-1)!
  const sweep = store
    .judgeFacts({ devices: many.map((device) => counting(device, 1)) })
    .then(() => ended.push('sweep'))
  const report = store
    .judgeFacts({ read: { partition: 0, lastOffset: 1 }, devices: [counting(last, 0)] })
    .then(() => ended.push('report'))
  await Promise.all([sweep, report])
  expect(ended).toEqual(['report', 'sweep'])
  const facts = await store.pageFacts({ accountId, deviceId: last.deviceId, limit: 9 })
  expect(facts.map(({ sequence }) => sequence)).toEqual([2, 1])
})

test('a transaction holds 1 MiB of facts: after a crash in between they are judged again, none twice', async () => {
  const store = await begun()
  const text = 'x'.repeat(300_000)
  const devices = Array.from({ length: 10 }, (_, n) => ({ accountId, deviceId: `van-${n}` }))
  const large = (device: Name): DeviceFact => ({
    ...fact(device),
    type: 'alarm.reported',
    alarm: text,
    late: false,
  })
  let judged = 0
  const dying = devices.map((device): JudgeDevice => ({
    ...device,
    judge(before) {
      judged += 1
      if (judged === 8) throw new Error('the process ends')
      return deciding(device, 1, [large(device)]).judge(before)
    },
  }))
  const read = { partition: 0, lastOffset: 1 }
  await expect(store.judgeFacts({ read, devices: dying })).rejects.toThrow('the process ends')
  const [{ n } = { n: 0 }] = inFile<{ n: number }>('SELECT count(*) AS n FROM facts')
  expect(n).toBeGreaterThanOrEqual(4)
  const afterCrash = open()
  expect(await afterCrash.factsProgress()).toEqual({ 0: 0 })
  const whole = devices.map((device) => deciding(device, 1, [large(device)]))
  expect((await afterCrash.judgeFacts({ read, devices: whole })).facts).toHaveLength(10 - n)
  expect(await afterCrash.pageFacts({ accountId, limit: 99 })).toHaveLength(10)
})

test('states are cached in memory by size: large ones are written before there are too many', async () => {
  const store = await begun()
  const standings = Object.fromEntries(
    Array.from({ length: 200 }, (_, n) => [
      `rule-${n}`,
      { revision: 1, wait: { at: T0, receivedAt: T0, value: 'v'.repeat(500) } },
    ]),
  )
  const definitions = { geofences: { standings: {} }, rules: { standings } }
  const devices = Array.from({ length: 400 }, (_, n): JudgeDevice => ({
    accountId,
    deviceId: `van-${n}`,
    judge: () => ({ state: state(1, { definitions: structuredClone(definitions) }), facts: [] }),
  }))
  await store.judgeFacts({ read: { partition: 0, lastOffset: 1 }, devices })
  const [{ bytes, n } = { bytes: 0, n: 0 }] = inFile<{ bytes: number; n: number }>(
    'SELECT count(*) AS n, sum(length(state)) AS bytes FROM states',
  )
  expect((bytes / n) * (devices.length - n)).toBeLessThan(17 * 2 ** 20)
  expect(inFile('SELECT last_offset AS last FROM progress')).toEqual([{ last: 0 }])
  expect(await store.factsProgress()).toEqual({ 0: 1 })
  for (const { deviceId } of devices) {
    expect(await stateOf(store, { accountId, deviceId })).toMatchObject({ applied: { 0: 1 } })
  }
})

test('facts of version 0.3.0 are listed by their sequence', async () => {
  const store = await begun()
  const facts = [3, 1, 2].map((sequence) => fact(van, sequence))
  await store.judgeFacts({ devices: [deciding(van, 1, facts)] })
  await store.close()
  change(BEFORE_SEQUENCES)
  const listed = await open().pageFacts({ accountId, limit: 9 })
  expect(listed.map(({ sequence }) => sequence)).toEqual([3, 2, 1])
})

test('large states of many devices are written in short turns, between which other work runs', async () => {
  const store = await begun()
  const definitions = {
    geofences: { standings: Object.fromEntries(numbered(50, () => ({ side: 'inside' as const }))) },
    rules: { standings: {} },
  }
  const devices = Array.from({ length: 100 }, (_, n): JudgeDevice => {
    const device = { accountId, deviceId: `device-${n}` }
    return { ...device, judge: () => ({ state: state(0, { definitions }), facts: [] }) }
  })
  const bytes = 100 * JSON.stringify(definitions).length
  const counter = countTurns()
  await store.judgeFacts({ devices })
  counter.stop()
  // One write for each 64 KiB.
  expect(counter.turns()).toBeGreaterThanOrEqual(Math.floor(bytes / 2 ** 16))
})

function numbered<T>(count: number, make: () => T): [string, T][] {
  return Array.from({ length: count }, (_, n) => [`geofence-${n}`, make()])
}
