import { afterEach, beforeEach, describe, test, expect } from '@jest/globals'
import { Database } from '../../../runtime/sqlite/database.ts'
import {
  MOST_DEFINITION_BYTES,
  MOST_GEOFENCES,
  MOST_VERTICES_OF_ACCOUNT,
} from '../../../schemas/definitions/geofence.ts'
import { BACK_OFFICE, openBackOffice } from '../../../store/back-office/open-back-office.ts'
import { makeTables, sqliteDocuments } from '../../../store/sqlite/documents.ts'
import { newGeofence, newRule, polygon } from '../../contracts/store-definitions.ts'
import { newSubscription } from '../../contracts/store-subscriptions.ts'
import { T0 } from '../../samples.ts'

const accountId = 'harbour'

describe('limits of geofences and rules', () => {
  let database: Database
  let store: ReturnType<typeof openBackOffice>

  beforeEach(() => {
    database = new Database(':memory:', [])
    makeTables(database, BACK_OFFICE)
    store = openBackOffice(sqliteDocuments(database), {
      disabledDevices: () => Promise.resolve([]),
      livesOf: () => Promise.resolve(new Map()),
    })
  })

  afterEach(() => database.close())

  test('an account has at most 200 000 vertices, even under concurrent calls', async () => {
    const large = (corners = 1_000) => newGeofence({ accountId, shape: polygon(corners) })
    const most = MOST_VERTICES_OF_ACCOUNT / 1_000
    const all = Array.from({ length: most - 2 }, () => large())
    await store.createGeofences(all)
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, () => store.createGeofences([large()])),
    )
    const refused = outcomes.flat().filter((outcome) => typeof outcome === 'string')
    expect(refused).toEqual(['too many vertices', 'too many vertices'])
    const id = all[0]!.id
    const reshape = (corners: number) =>
      store.changeGeofence({
        accountId,
        id,
        changedAt: T0,
        next: (one) => ({ ...one, shape: polygon(corners) }),
      })
    expect(await reshape(1_001)).toBe('too many vertices')
    expect(await reshape(500)).toMatchObject({ revision: 2 })
    const [first, second] = await store.createGeofences([large(600), large(400)])
    expect([first, second]).toMatchObject(['too many vertices', { shape: { type: 'Polygon' } }])
    await store.deleteGeofence({ accountId, id, deletedAt: T0 })
    expect(await store.createGeofences([large(600)])).toMatchObject([{ revision: 1 }])
  })

  test('an account has at most 10 000 geofences; a process that died between counting and storing uses up none', async () => {
    const small = () => newGeofence({ accountId })
    // A geofence that the database rejects is no longer counted.
    await store.createGeofences([newGeofence({ accountId, externalId: 'a' })])
    const twice = Array.from({ length: 500 }, () => newGeofence({ accountId, externalId: 'a' }))
    expect(new Set(await store.createGeofences(twice))).toEqual(new Set(['external id taken']))
    for (let n = 1; n < MOST_GEOFENCES; n += 1_111) {
      await store.createGeofences(Array.from({ length: 1_111 }, small))
    }
    expect(await store.createGeofences([small()])).toEqual(['too many geofences'])
  })

  const deviceIds = (length = 1_000) => Array.from({ length }, (_, n) => `${n}`.padStart(100, 'x'))
  const subscription = () =>
    newSubscription({ accountId, createdAt: T0, changedAt: T0, deviceIds: deviceIds() })
  const bytesLeft = async () => {
    let bytes = MOST_DEFINITION_BYTES
    for (const one of await store.pageGeofences({ accountId, limit: 999 })) {
      bytes -= JSON.stringify(one).length
    }
    return bytes
  }

  test('all definitions of an account together have at most 16 MiB', async () => {
    const all = Array.from({ length: 170 }, () =>
      newGeofence({ accountId, deviceIds: deviceIds() }),
    )
    const outcomes = await store.createGeofences(all)
    const stored = outcomes.filter((outcome) => typeof outcome === 'object')
    expect(new Set(outcomes.slice(stored.length))).toEqual(new Set(['too large']))
    expect(await bytesLeft()).toBeGreaterThanOrEqual(0)
    expect(await bytesLeft()).toBeLessThan(110_000)
    const rule = newRule({ accountId, deviceIds: deviceIds() })
    expect(await store.createRule(rule)).toBe('too large')
    expect(await store.createSubscription(subscription())).toBe('too large')
    // A small one still fits, but it cannot grow.
    const small = newRule({ accountId })
    expect(await store.createRule(small)).toMatchObject({ revision: 1 })
    const grow = { accountId, id: small.id, changedAt: T0 }
    const grown = { ...grow, next: (one: object) => ({ ...one, deviceIds: deviceIds() }) as never }
    expect(await store.changeRule(grown)).toBe('too large')
    const { id } = stored[0]!
    const shrunk = { accountId, id, changedAt: T0 + 1 }
    expect(
      await store.changeGeofence({ ...shrunk, next: (one) => ({ ...one, deviceIds: ['tug'] }) }),
    ).toMatchObject({ revision: 2 })
    expect(await store.createRule(rule)).toMatchObject({ revision: 1 })
    await store.deleteRule({ accountId, id: rule.id, deletedAt: T0 })
    expect(await store.createSubscription(subscription())).toBe('stored')
    const { accountId: other } = { accountId: 'other' }
    expect(await store.createGeofences([newGeofence({ accountId: other })])).toMatchObject([
      { revision: 1 },
    ])
  })

  test('an account over the limit since version 0.3.0 reads everything, and may only shrink', async () => {
    const earlier = sqliteDocuments(database)({ name: 'geofences', indexes: {} })
    const totals = sqliteDocuments(database)({ name: 'geofence_totals', indexes: {} })
    const given = Array.from({ length: 200 }, () =>
      newGeofence({ accountId, deviceIds: deviceIds() }),
    )
    for (const one of given) {
      const content = JSON.stringify({ ...one, revision: 1, changedAt: T0, inForceSince: T0 })
      const { id, createdAt } = one
      await earlier.insert([{ id, accountId, createdAt, changedAt: T0, content } as never])
    }
    await totals.insert([{ id: accountId, geofences: 200, vertices: 200 } as never])
    expect(await store.pageGeofences({ accountId, limit: 999 })).toHaveLength(200)
    expect(await store.createGeofences([newGeofence({ accountId })])).toEqual(['too large'])
    const change = (id: string, length: number) =>
      store.changeGeofence({
        accountId,
        id,
        changedAt: T0 + 1,
        next: (one) => ({ ...one, deviceIds: deviceIds(length) }),
      })
    expect(await change(given[0]!.id, 999)).toMatchObject({ revision: 2 })
    expect(await change(given[1]!.id, 1_001)).toBe('too large')
    for (const { id } of given.slice(50)) {
      await store.deleteGeofence({ accountId, id, deletedAt: T0 })
    }
    expect(await change(given[1]!.id, 1_001)).toMatchObject({ revision: 2 })
  })

  test('a page of large definitions ends early', async () => {
    const all = Array.from({ length: 40 }, () => newGeofence({ accountId, deviceIds: deviceIds() }))
    await store.createGeofences(all)
    const page = await store.pageGeofences({ accountId, limit: 1_000, mostBytes: 1_000_000 })
    expect(page.length).toBeGreaterThan(5)
    expect(page.length).toBeLessThan(11)
    const rest = { accountId, limit: 1_000, after: page.at(-1)! }
    expect(await store.pageGeofences(rest)).toHaveLength(40 - page.length)
  })
})
