import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { KnownDefinitions } from '../../projector/facts/definitions.ts'
import type { GeofenceIndex } from '../../schemas/geo/geofence-index.ts'
import { Database } from '../../runtime/sqlite/database.ts'
import { GEOFENCES } from '../../store/back-office/definition-documents.ts'
import { BACK_OFFICE, openBackOffice } from '../../store/back-office/open-back-office.ts'
import type { ChangesPage, ChangesQuery, DefinitionStore } from '../../store/definitions.ts'
import { ChangesFollower } from '../../store/follow-changes.ts'
import { makeTables, sqliteDocuments } from '../../store/sqlite/documents.ts'
import { newGeofence } from '../contracts/store-definitions.ts'
import { T0 } from '../samples.ts'

const accountId = 'harbour'
const HOUR_MS = 3_600_000
const clock = { time: T0, now: () => clock.time }

describe('following the changes of definitions', () => {
  let database: Database
  let store: DefinitionStore

  beforeEach(() => {
    clock.time = T0
    database = new Database(':memory:', [])
    makeTables(database, BACK_OFFICE)
    store = openBackOffice(sqliteDocuments(database), {
      disabledDevices: () => Promise.resolve([]),
      livesOf: () => Promise.resolve(new Map()),
    })
  })

  afterEach(() => database.close())

  test('definitions stay known while all are reread after a clock jump', async () => {
    const [kept, deleted] = [newGeofence({ accountId }), newGeofence({ accountId })]
    await store.createGeofences([kept, deleted])
    let whileReading: (() => void) | undefined
    const known = new KnownDefinitions(
      {
        changedRules: (query) => store.changedRules(query),
        async changedGeofences(query) {
          const page = await store.changedGeofences(query)
          whileReading?.()
          return page
        },
      },
      clock,
    )
    await known.refresh()
    const before = known.of(accountId)?.index.get(kept.id)
    expect(before).toBeDefined()
    await store.deleteGeofence({ accountId, id: deleted.id, deletedAt: T0 })
    // The remains of the deletion are gone too, as after a day.
    database.exec(`DELETE FROM geofences WHERE id = '${deleted.id}'`)
    for (const jump of [13 * HOUR_MS, -26 * HOUR_MS]) {
      clock.time += jump
      let looks = 0
      whileReading = () => {
        looks += 1
        expect(known.of(accountId)?.index.get(kept.id)).toBe(before)
      }
      await known.refresh()
      expect(looks).toBeGreaterThan(0)
      expect(known.of(accountId)?.index.get(kept.id)).toBe(before)
      expect(known.of(accountId)?.index.get(deleted.id)).toBeUndefined()
    }
  })

  test('an import of many geofences takes effect as a whole: while it is read, devices are judged by the previous ones', async () => {
    const first = newGeofence({ accountId })
    await store.createGeofences([first])
    const whileReading: (GeofenceIndex | undefined)[] = []
    const known = new KnownDefinitions(
      {
        changedRules: (query) => store.changedRules(query),
        async changedGeofences(query) {
          whileReading.push(known.of(accountId)?.index)
          return await store.changedGeofences(query)
        },
      },
      clock,
    )
    await known.refresh()
    const before = known.of(accountId)?.index
    expect(known.takeChangedGeofences()).toHaveLength(1)
    const imported = Array.from({ length: 1_200 }, () => newGeofence({ accountId }))
    await store.createGeofences(imported)
    whileReading.length = 0
    await known.refresh()
    expect(whileReading.length).toBeGreaterThan(2)
    expect(new Set(whileReading)).toEqual(new Set([before]))
    const after = known.of(accountId)?.index
    expect(imported.every(({ id }) => after?.get(id) !== undefined)).toBe(true)
    expect(known.takeChangedGeofences()).toHaveLength(1_200)
  })

  test('the content of unchanged definitions is not read', async () => {
    const all = Array.from({ length: 600 }, () => newGeofence({ accountId }))
    await store.createGeofences(all)
    let read = 0
    const follower = new ChangesFollower(
      async (query: ChangesQuery) => {
        const page = await store.changedGeofences(query)
        read += page.changes.length
        return page
      },
      { clock },
    )
    expect(await idsOf(follower)).toHaveLength(600)
    for (const later of [4_000, 60_000, 13 * HOUR_MS]) {
      clock.time += later
      read = 0
      expect(await idsOf(follower)).toEqual([])
      expect(read).toBe(0)
    }
    const next = (one: object) => ({ ...one, name: 'New' }) as (typeof all)[0]
    await store.changeGeofence({ accountId, id: all[0]!.id, changedAt: T0, next })
    expect(await idsOf(follower)).toEqual([all[0]!.id])
  })

  test('definitions written by version 0.3.0 are followed, even its changes while this version runs beside it', async () => {
    const earlier = sqliteDocuments(database)({ name: 'geofences', indexes: GEOFENCES.indexes })
    const geofence = newGeofence({ accountId, name: 'Old' })
    const content = (name: string) => JSON.stringify({ ...geofence, name, changedAt: T0 })
    const own = { id: geofence.id, accountId, createdAt: T0, changedAt: T0 }
    await earlier.insert([{ ...own, content: content('Old') }])
    expect(await store.pageGeofenceNames({ accountId, limit: 9 })).toMatchObject([{ name: 'Old' }])
    const follower = new ChangesFollower((query) => store.changedGeofences(query), { clock })
    expect(await idsOf(follower)).toEqual([geofence.id])
    clock.time += 4_000
    const { revision } = (await earlier.get(geofence.id))!
    await earlier.replace({ ...own, content: content('Newer'), revision })
    const changes = await changesOf(follower)
    expect(changes).toMatchObject([{ id: geofence.id, definition: { name: 'Newer' } }])
    expect(await store.pageGeofenceNames({ accountId, limit: 9 })).toMatchObject([
      { name: 'Newer' },
    ])
  })

  test('one call to the store migrates at most 250 definitions of version 0.3.0', async () => {
    const earlier = sqliteDocuments(database)({ name: 'geofences', indexes: GEOFENCES.indexes })
    const all = Array.from({ length: 600 }, () => newGeofence({ accountId }))
    await earlier.insert(
      all.map((geofence) => ({
        id: geofence.id,
        accountId,
        createdAt: T0,
        changedAt: T0,
        content: JSON.stringify({ ...geofence, changedAt: T0 }),
      })),
    )
    const without = { index: 'version', where: { version: null }, limit: 600 } as const
    const left: number[] = []
    const follower = new ChangesFollower(
      async (query: ChangesQuery) => {
        const page = await store.changedGeofences(query)
        left.push((await earlier.find(without)).length)
        return page
      },
      { clock },
    )
    expect((await idsOf(follower)).toSorted()).toEqual(all.map(({ id }) => id).toSorted())
    expect(left.slice(0, 3)).toEqual([350, 100, 0])
  })

  test('definitions are read in parts of about 1 MiB', async () => {
    const deviceIds = Array.from({ length: 1_000 }, (_, n) => `${n}`.padStart(100, 'x'))
    const all = Array.from({ length: 60 }, () => newGeofence({ accountId, deviceIds }))
    await store.createGeofences(all)
    const pages: ChangesPage<object>[] = []
    const follower = new ChangesFollower(
      async (query: ChangesQuery) => {
        const page = await store.changedGeofences(query)
        pages.push(page)
        return page
      },
      { clock },
    )
    expect(await idsOf(follower)).toHaveLength(60)
    for (const { changes } of pages) {
      expect(JSON.stringify(changes).length).toBeLessThan(1.3 * 1024 * 1024)
    }
  })
})

test('a change that appears after a later one is noticed within a minute', async () => {
  const stored = new Map<string, number>()
  const read = async ({ after, isKnown }: ChangesQuery): Promise<ChangesPage<object>> => {
    const all = [...stored].filter(([, version]) => version > after)
    const changes = all
      .sort(([, one], [, other]) => one - other)
      .filter(([id, version]) => !isKnown(id, version))
      .map(([id, version]) => ({ id, version, changedAt: T0, definition: {} }))
    return { changes, last: Math.max(after, ...all.map(([, version]) => version)), isEnd: true }
  }
  clock.time = T0
  for (let n = 1; n <= 20_000; n += 1) stored.set(`old ${n}`, n)
  const follower = new ChangesFollower(read, { clock })
  await idsOf(follower)
  // Written with a number taken before the highest one first seen.
  stored.delete('old 19999')
  stored.set('late at first', 19_999)
  clock.time += 4_000
  expect(await idsOf(follower)).toEqual(['late at first'])
  for (let n = 20_001; n <= 20_100; n += 1) {
    clock.time += 4_000
    if (n % 10 !== 5) stored.set(`new ${n}`, n)
    if (n % 10 === 0) stored.set(`late ${n - 5}`, n - 5)
    const expected = n % 10 === 5 ? [] : n % 10 === 0 ? [`late ${n - 5}`, `new ${n}`] : [`new ${n}`]
    expect(await idsOf(follower)).toEqual(expected)
  }
})

async function changesOf<Definition>(follower: ChangesFollower<Definition>) {
  const all: { id: string; definition?: Definition }[] = []
  for await (const part of follower.changes()) all.push(...part)
  return all
}

async function idsOf(follower: ChangesFollower<unknown>): Promise<readonly string[]> {
  return (await changesOf(follower)).map(({ id }) => id)
}
