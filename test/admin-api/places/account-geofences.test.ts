import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { AccountGeofences } from '../../../admin-api/places/account-geofences.ts'
import type { NewGeofence } from '../../../store/definitions.ts'
import { openTemporaryStore } from '../../store/sqlite/open-sqlite-store.ts'
import type { OpenedStore } from '../../contracts/store-suite.ts'
import { countTurns } from '../../count-turns.ts'
import { T0 } from '../../samples.ts'

const HERE = { latitude: 45.27, longitude: 13.71 }
const clock = { time: T0, now: () => clock.time }

let opened: OpenedStore
let geofences: AccountGeofences
/** The reads since the last call. */
let read: string[] = []

beforeEach(async () => {
  opened = await openTemporaryStore()
  const { store } = opened
  clock.time = T0
  read = []
  geofences = new AccountGeofences({
    clock,
    store: {
      newestGeofenceVersion: (accountId) => store.newestGeofenceVersion(accountId),
      pageGeofenceNames(query) {
        read.push(`names of ${query.accountId}`)
        return store.pageGeofenceNames(query)
      },
      findGeofence(query) {
        read.push(query.id)
        return store.findGeofence(query)
      },
    },
  })
})

afterEach(() => opened.close())

async function make(accountId: string, count: number): Promise<void> {
  await opened.store.createGeofences(
    Array.from({ length: count }, (_, n): NewGeofence => ({
      id: `${accountId}-${n}`,
      accountId,
      createdAt: T0 + n,
      name: `yard ${n}`,
      shape: { type: 'circle', ...HERE, radius: 100 + n },
      enabled: true,
      confirmSeconds: 0,
      properties: {},
    })),
  )
}

async function rename(accountId: string, n: number, name: string): Promise<void> {
  const next = <T>(before: T) => ({ ...before, name })
  clock.time += 1
  const change = { accountId, id: `${accountId}-${n}`, changedAt: clock.time, next }
  await opened.store.changeGeofence(change)
}

/** The name of the smallest geofence, and what was read for it. */
async function placeOf(accountId: string) {
  read = []
  const index = await geofences.of(accountId)
  const [smallest] = index.around(HERE)
  return { name: smallest?.geofence.name, read }
}

test('changes of one account cost others nothing, and the account itself rereads only what has changed', async () => {
  await make('acc-1', 3)
  await make('acc-2', 3)
  await placeOf('acc-1')
  await placeOf('acc-2')
  for (let n = 0; n < 5; n += 1) {
    await rename('acc-2', 0, `gate ${n}`)
    expect(await placeOf('acc-1')).toEqual({ name: 'yard 0', read: [] })
    const found = await placeOf('acc-2')
    expect(found).toEqual({ name: `gate ${n}`, read: ['names of acc-2', 'acc-2-0'] })
  }
})

test('constantly changing geofences of a large account are read after pauses, in slices', async () => {
  await make('acc-1', 1_500)
  const counter = countTurns()
  await placeOf('acc-1')
  counter.stop()
  expect(counter.turns()).toBeGreaterThan(5)
  let reads = 0
  let known: string | undefined
  for (let n = 1; n <= 50; n += 1) {
    await rename('acc-1', 0, `gate ${n}`)
    clock.time += 19
    const found = await placeOf('acc-1')
    if (found.read.length > 0) reads += 1
    known = found.name
  }
  expect(reads).toBeGreaterThan(0)
  expect(reads).toBeLessThanOrEqual(5)
  clock.time += 200
  expect(known).not.toBe('yard 0')
  expect((await placeOf('acc-1')).name).toBe('gate 50')
})

test('concurrent callers share one read', async () => {
  await make('acc-1', 300)
  read = []
  await Promise.all([1, 2, 3, 4].map(() => geofences.of('acc-1')))
  expect(read.filter((one) => one === 'names of acc-1').length).toBeLessThanOrEqual(2)
  expect(read.filter((one) => one === 'acc-1-7')).toHaveLength(1)
})
