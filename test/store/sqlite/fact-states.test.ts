import { DatabaseSync } from '@photostructure/sqlite'
import { join } from 'node:path'
import { afterEach, expect, test } from '@jest/globals'
import type { DefinitionsState } from '../../../schemas/definitions/definitions-state.ts'
import type { FactState } from '../../../schemas/facts/fact-state.ts'
import { factId, type DeviceFact } from '../../../schemas/facts/facts.ts'
import { WentBackError, type ErasureEntry } from '../../../store/read-models.ts'
import { WRITTEN_AFTER_ENTRIES } from '../../../store/sqlite/fact-states.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../../store/store.ts'
import { directoryForEachTest } from '../../directory-for-each-test.ts'
import { deviceErased, T0 } from '../../samples.ts'
import { BEFORE_SEQUENCES } from './before-sequences.ts'

const MINUTE = 60_000
const van = { accountId: 'acc-1', deviceId: 'van' }
const tug = { accountId: 'acc-1', deviceId: 'tug' }
const directory = directoryForEachTest()
const clock = { time: T0, now: () => clock.time }
let opened: Store[] = []

afterEach(async () => {
  for (const store of opened) await store.close().catch(() => undefined)
  opened = []
})

function open(): Store {
  const store = openSqliteStore({ directory: directory(), clock })
  opened.push(store)
  return store
}

/** Judging has started, and both devices have a state that is in the file. */
async function begun(): Promise<Store> {
  const store = open()
  await store.seedFacts([van, tug].map((one) => ({ ...one, partition: 0, state: state(0) })))
  await store.beginFacts({ 0: 0 })
  return store
}

function state(offset: number, changes: Partial<FactState> = {}): FactState {
  return { sequence: 0, applied: { 0: offset }, due: T0 + MINUTE, ...changes }
}

/** Entries up to this offset, of which the last one changes a device's state. */
function judge(
  store: Store,
  device: typeof van,
  offset: number,
  changes: Partial<FactState> & { facts?: readonly DeviceFact[]; after?: number } = {},
) {
  const { facts = [], after = offset - 1, ...more } = changes
  const read = { partition: 0, after, lastOffset: offset }
  return store.judgeFacts({
    read,
    devices: [{ ...device, judge: () => ({ state: state(offset, more), facts }) }],
  })
}

/** The state that a crash would leave. */
function progressInFile(): number | undefined {
  const raw = new DatabaseSync(join(directory(), 'facts.sqlite'), { readOnly: true })
  const row = raw.prepare('SELECT last_offset AS last FROM progress').get() as { last?: number }
  raw.close()
  return row.last
}

async function stateOf(store: Store, device: typeof van): Promise<FactState | undefined> {
  let found: FactState | undefined
  await store.judgeFacts({ devices: [{ ...device, judge: (now) => void (found = now) }] })
  return found
}

function online(device: typeof van, at = T0): DeviceFact {
  const fact = { ...device, type: 'device.online', sequence: 1, at, previous: null } as const
  return { ...fact, id: factId(fact, ''), decidedAt: at, inside: [] }
}

function inside(...ids: readonly string[]): DefinitionsState {
  const standings = Object.fromEntries(
    ids.map((id) => [id, { side: 'inside' as const, since: T0 }]),
  )
  return { geofences: { standings }, rules: { standings: {} } }
}

test('states without facts are written later: after a crash, their entries are judged again', async () => {
  const store = await begun()
  await judge(store, van, 1)
  await judge(store, tug, 2)
  expect(await store.factsProgress()).toEqual({ 0: 2 })
  const afterCrash = open()
  expect(await afterCrash.factsProgress()).toEqual({ 0: 0 })
  expect(await stateOf(afterCrash, van)).toEqual(state(0))
  expect(await stateOf(afterCrash, tug)).toEqual(state(0))
})

test('facts and their progress are written to the file together, however large they are', async () => {
  const store = await begun()
  const large = { ...online(van), inside: ['g'.repeat(2 ** 18)] }
  await judge(store, van, 1, { facts: [large] })
  expect(progressInFile()).toBe(1)
})

test('a fact is in the file with its state once decided; the progress stays before entries missing from the file', async () => {
  const store = await begun()
  await judge(store, van, 1)
  await judge(store, tug, 2, { facts: [online(tug)], sequence: 1 })
  const afterCrash = open()
  expect(await afterCrash.pageFacts({ accountId: 'acc-1', limit: 9 })).toEqual([online(tug)])
  expect(await stateOf(afterCrash, tug)).toEqual(state(2, { sequence: 1 }))
  expect(await stateOf(afterCrash, van)).toEqual(state(0))
  expect(await afterCrash.factsProgress()).toEqual({ 0: 0 })
})

test('once no state is missing, the progress in the file matches the decisions', async () => {
  const store = await begun()
  await judge(store, van, 1)
  await judge(store, van, 2, { facts: [online(van)] })
  expect(await open().factsProgress()).toEqual({ 0: 2 })
})

test('a closed store has written everything', async () => {
  const store = await begun()
  await judge(store, van, 1)
  await store.close()
  const again = open()
  expect(await again.factsProgress()).toEqual({ 0: 1 })
  expect(await stateOf(again, van)).toEqual(state(1))
})

test('a state is written after ten minutes, or 200 000 entries', async () => {
  const store = await begun()
  await judge(store, van, 1)
  clock.time += 10 * MINUTE + 1
  await judge(store, tug, 2)
  expect(await open().factsProgress()).toEqual({ 0: 2 })
  await judge(store, van, 3)
  await judge(store, tug, 200_002, { after: 3 })
  expect(await open().factsProgress()).toEqual({ 0: 2 })
  await judge(store, tug, 200_003)
  expect(await open().factsProgress()).toEqual({ 0: 200_003 })
})

test('a decision without an entry is written with its state', async () => {
  const store = await begun()
  await store.judgeFacts({
    devices: [{ ...van, judge: () => ({ state: state(0, { due: null }), facts: [] }) }],
  })
  expect(await stateOf(open(), van)).toEqual(state(0, { due: null }))
})

test('the latest states decide which devices are due', async () => {
  const store = await begun()
  const due = async (now: number) =>
    (await store.dueDevices({ now, limit: 9, partition: 0 })).map(({ deviceId }) => deviceId)
  await judge(store, van, 1, { due: T0 + 2 * MINUTE })
  await judge(store, tug, 2, { due: T0 + 10 })
  expect(await due(T0 + 10)).toEqual(['tug'])
  expect(await due(T0 + MINUTE)).toEqual(['tug'])
  expect(await due(T0 + 2 * MINUTE)).toEqual(['tug', 'van'])
  await judge(store, tug, 3, { due: null })
  expect(await due(T0 + 2 * MINUTE)).toEqual(['van'])
})

test('the latest states decide which devices are in a geofence, even after an upgrade', async () => {
  const store = await begun()
  const who = async (from: Store) =>
    (await from.devicesWith({ accountId: 'acc-1', definitionId: 'yard', limit: 9 })).map(
      ({ deviceId }) => deviceId,
    )
  await judge(store, van, 1, { definitions: inside('yard', 'quay') })
  await judge(store, tug, 2, { definitions: inside('quay') })
  expect(await who(store)).toEqual(['van'])
  await judge(store, tug, 3, { definitions: inside('yard') })
  await judge(store, van, 4, { definitions: inside('quay') })
  expect(await who(store)).toEqual(['tug'])
  await store.close()
  const file = new DatabaseSync(join(directory(), 'facts.sqlite'))
  file.exec(BEFORE_SEQUENCES)
  file.close()
  expect(await who(open())).toEqual(['tug'])
})

test('a batch that does not follow the judged entries is rejected until reading goes back', async () => {
  const store = await begun()
  await judge(store, van, 1)
  await expect(judge(store, tug, 3)).rejects.toThrow(WentBackError)
  await judge(store, tug, 2)
  expect(await store.factsProgress()).toEqual({ 0: 2 })
})

test('an erasure applies to the latest state, which is in the file before the facts are removed', async () => {
  const store = await begun()
  await judge(store, van, 1, { facts: [online(van)], sequence: 1 })
  await judge(store, van, 2)
  const event = deviceErased({ ...van, erasedAt: T0 })
  const erasure: ErasureEntry = { kind: 'erasure', origin: { partition: 0, offset: 3 }, event }
  await store.eraseFacts(erasure)
  const afterCrash = open()
  expect(await afterCrash.pageFacts({ accountId: 'acc-1', limit: 9 })).toEqual([])
  expect(await stateOf(afterCrash, van)).toMatchObject({ sequence: 0, applied: { 0: 3 } })
})

test('expiry keeps states that are newer than in the file', async () => {
  const store = await begun()
  const liveness = { seenAt: T0, due: null }
  await judge(store, van, 1, { liveness })
  await store.expireFacts(T0)
  expect(await stateOf(store, van)).toEqual(state(1, { liveness }))
  expect(await stateOf(store, tug)).toBeUndefined()
  expect(await store.factsProgress()).toEqual({ 0: 1 })
})

test('many entries that change no state move the progress in the file', async () => {
  const store = await begun()
  const lastOffset = WRITTEN_AFTER_ENTRIES + 1
  await store.judgeFacts({ read: { partition: 0, lastOffset: 1 }, devices: [] })
  expect(progressInFile()).toBe(0)
  await store.judgeFacts({ read: { partition: 0, lastOffset }, devices: [] })
  expect(progressInFile()).toBe(lastOffset)
})
