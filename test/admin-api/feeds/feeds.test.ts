import { beforeAll, beforeEach, expect, test } from '@jest/globals'
import { deviceStatus, FOLD_VERSION } from '../../../projector/device-status.ts'
import type { FactState } from '../../../schemas/facts/fact-state.ts'
import type { DeviceFact } from '../../../schemas/facts/facts.ts'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'
import type { ProjectionEntry } from '../../../store/read-models.ts'
import { eventually } from '../../eventually.ts'
import { deviceErased, positionReported, T0 } from '../../samples.ts'
import { factsOfAllTypes } from '../../schemas/facts-samples.ts'
import { bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
let accountId: string
let made = 0

beforeAll(async () => {
  harness = await startAdmin({
    stream: { readersPerCaller: 1, sharedCheckMs: 1 },
    callLimit: 'off',
  })
})

beforeEach(async () => {
  made += 1
  accountId = `acc-of-test-${made}`
  const account = { id: accountId, name: accountId, suspended: false, createdAt: T0 }
  await harness.store.createAccount(account)
  headers = await reader()
})

async function reader(changes: { deviceIds?: string[] } = {}) {
  const key = await harness.createKey({
    ...changes,
    id: `key-of-${accountId}-${Object.keys(changes).length}`,
    accountId,
    scopes: ['positions:read'],
  })
  return bearer(key.secret)
}

/** Facts of all types, decided for one device. */
async function decide(deviceId = 'van-1', changes: Partial<DeviceFact> = {}) {
  const facts = factsOfAllTypes({ accountId, deviceId }).map((fact, index): DeviceFact => ({
    ...fact,
    ...(changes as object),
    id: `01KDVN9C06${`${made}-${deviceId}-${index}`.replace(/\W/g, '').toUpperCase().padStart(16, '0')}`,
  }))
  const judge = (state: FactState | undefined) => ({
    state: { sequence: 0, applied: {}, due: null, ...state },
    facts,
  })
  await harness.store.judgeFacts({ devices: [{ accountId, deviceId, judge }] })
  return facts
}

async function report(changes: Partial<PositionReported> = {}) {
  const event = positionReported({ accountId, ...changes })
  await harness.eventLog.append([event])
  return event
}

async function read(path: string, as = headers) {
  const answer = await harness.api('GET', `/feeds/${path}`, { headers: as })
  const { items = [], mark, end, gap } = answer.body.data ?? {}
  return { ...answer, items, mark: String(mark), end, gap }
}

test('the feed has complete facts, as the list shows them, oldest first', async () => {
  const facts = await decide()
  const { items, end, gap } = await read('facts?limit=1000')
  expect(items.map(({ id }) => id)).toEqual(facts.map(({ id }) => id))
  expect(end).toBe(true)
  expect(gap).toBeUndefined()
  const listed = await harness.api('GET', '/facts', { headers })
  const byId = (a: { id?: unknown }, b: { id?: unknown }) => (String(a.id) < String(b.id) ? -1 : 1)
  expect([...items].sort(byId)).toEqual([...(listed.body.data?.items ?? [])].sort(byId))
})

test('the feed of positions has records, without imported ones', async () => {
  const first = await report({ speed: 3 })
  await report({ imported: true })
  const { items, end } = await read('positions')
  expect(items).toHaveLength(1)
  expect(end).toBe(true)
  expect(items[0]).toEqual({
    recordId: first.recordId,
    deviceId: first.deviceId,
    latitude: first.latitude,
    longitude: first.longitude,
    speed: 3,
    timestamp: new Date(first.timestamp).toISOString(),
    receivedAt: new Date(first.receivedAt).toISOString(),
  })
})

test('a feed can start at the end, or at a time', async () => {
  await decide()
  const { items, end, mark } = await read('facts?after=end')
  expect({ items, end }).toEqual({ items: [], end: true })
  const [later] = await decide('van-2', { decidedAt: T0 + 86_400_000 })
  expect((await read(`facts?after=${mark}&limit=1`)).items[0]).toMatchObject({ id: later!.id })
  const from = await read(`facts?from=${new Date(T0 + 86_000_000).toISOString()}`)
  expect(from.items.every(({ deviceId }) => deviceId === 'van-2')).toBe(true)
  expect(from.items.length).toBeGreaterThan(0)
})

test('items can be filtered by type or device', async () => {
  await decide('van-1')
  await decide('van-2')
  const alarms = await read('facts?type=alarm.reported')
  expect(alarms.items.map(({ type }) => type)).toEqual(['alarm.reported', 'alarm.reported'])
  const own = await read('facts?deviceId=van-2&limit=1000')
  expect(new Set(own.items.map(({ deviceId }) => deviceId))).toEqual(new Set(['van-2']))
})

test('a key bound to devices gets only their items', async () => {
  await decide('van-1')
  await decide('lorry')
  await report({ deviceId: 'van-1' })
  await report({ deviceId: 'lorry' })
  const bound = await reader({ deviceIds: ['van-*'] })
  for (const feed of ['facts', 'positions']) {
    const { items } = await read(`${feed}?limit=1000`, bound)
    expect(new Set(items.map(({ deviceId }) => deviceId))).toEqual(new Set(['van-1']))
    expect((await read(`${feed}?deviceId=lorry`, bound)).items).toEqual([])
  }
})

test('erasures are items on request, and the items that they cover disappear', async () => {
  await decide('gone')
  await report({ deviceId: 'gone' })
  const erasure = deviceErased({ accountId, deviceId: 'gone', erasedAt: T0 + 5 })
  await harness.store.hideErased(erasure)
  await harness.eventLog.erase(erasure)
  const ending = new AbortController()
  await harness.eventLog.subscribe({
    group: 'projector',
    signal: ending.signal,
    async onBatch(batch) {
      const entries = batch.entries as readonly ProjectionEntry[]
      for (const entry of entries)
        if (entry.kind === 'erasure') await harness.store.eraseFacts(entry)
      await harness.store.project({
        ...batch,
        entries,
        fold: deviceStatus,
        foldVersion: FOLD_VERSION,
      })
      ending.abort()
    },
  })
  const expected = { type: 'device.erased', deviceId: 'gone', erasedAt: '2026-01-01T00:00:00.005Z' }
  for (const feed of ['facts', 'positions']) {
    await eventually(async () => {
      const { items } = await read(`${feed}?erasures=true`)
      return JSON.stringify(items) === JSON.stringify([expected])
    })
    expect((await read(feed)).items).toEqual([])
    expect((await read(`${feed}?erasures=true&deviceId=other`)).items).toEqual([])
  }
})

test('the mark of one feed is invalid in the other', async () => {
  const [facts, positions] = [await read('facts'), await read('positions')]
  expect((await read(`facts?after=${positions.mark}`)).status).toBe(400)
  for (const mark of [facts.mark, 'rubbish']) {
    const { status, body } = await read(`positions?after=${mark}`)
    expect(status).toBe(400)
    expect(body.details?.map(({ field }) => field)).toEqual(['after'])
  }
})

test('if retention has passed the mark, the page says so', async () => {
  const before = await read('facts')
  await decide()
  const [left] = await decide('van-2', { decidedAt: T0 + 2 * 86_400_000 })
  await harness.store.expireFacts(T0 + 86_400_000)
  const page = await read(`facts?after=${before.mark}&limit=1`)
  expect(page.gap).toBe(true)
  expect(page.items[0]).toMatchObject({ id: left!.id })
})

test('a call that waits counts as a stream, not as a call', async () => {
  const { mark } = await read('positions')
  const waiting = read(`positions?after=${mark}&waitSeconds=55`)
  await eventually(async () => {
    const { status } = await read(`positions?after=${mark}&waitSeconds=1`)
    return status === 429
  })
  // Other calls of the same key get their responses.
  expect((await read(`positions?after=${mark}`)).status).toBe(200)
  await report()
  expect((await waiting).items).toHaveLength(1)
})

test('a key that is revoked while its call waits gets nothing', async () => {
  const { mark } = await read('positions')
  const waiting = read(`positions?after=${mark}&waitSeconds=55`)
  await eventually(async () => {
    return (await read(`positions?after=${mark}&waitSeconds=1`)).status === 429
  })
  await harness.store.revokeKey({
    accountId,
    keyId: `key-of-${accountId}-0`,
    revokedAt: harness.clock.now(),
  })
  await harness.eventLog.append([positionReported({ accountId })])
  expect(await waiting).toMatchObject({
    status: 401,
    body: { message: 'access has been revoked or has expired' },
  })
})
