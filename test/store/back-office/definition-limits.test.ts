import { afterEach, beforeEach, describe, test, expect } from '@jest/globals'
import { Database } from '../../../runtime/sqlite/database.ts'
import { MOST_RULES } from '../../../schemas/device-rule.ts'
import { MOST_GEOFENCES, MOST_VERTICES_OF_ACCOUNT } from '../../../schemas/geofence.ts'
import { BACK_OFFICE, openBackOffice } from '../../../store/back-office/open-back-office.ts'
import { makeTables, sqliteDocuments } from '../../../store/sqlite/documents.ts'
import { newGeofence, newRule, polygon } from '../../contracts/store-definitions.ts'
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

  test('an account has at most 200 000 vertices, also under concurrent calls', async () => {
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

  test('an account has at most 10 000 geofences; a process that ended between counting and storing takes none of them', async () => {
    const small = () => newGeofence({ accountId })
    // A geofence that the database refuses is no longer counted.
    await store.createGeofences([newGeofence({ accountId, externalId: 'a' })])
    const twice = Array.from({ length: 500 }, () => newGeofence({ accountId, externalId: 'a' }))
    expect(new Set(await store.createGeofences(twice))).toEqual(new Set(['external id taken']))
    for (let n = 1; n < MOST_GEOFENCES; n += 1_111) {
      await store.createGeofences(Array.from({ length: 1_111 }, small))
    }
    expect(await store.createGeofences([small()])).toEqual(['too many geofences'])
  })

  test('an account has at most 200 rules', async () => {
    for (let n = 0; n < MOST_RULES; n += 1) {
      expect(await store.createRule(newRule({ accountId }))).toMatchObject({ revision: 1 })
    }
    expect(await store.createRule(newRule({ accountId }))).toBe('too many rules')
    const all = await store.pageRules({ accountId, limit: MOST_RULES + 1 })
    expect(all).toHaveLength(MOST_RULES)
    await store.deleteRule({ accountId, id: all[0]!.id, deletedAt: T0 })
    expect(await store.createRule(newRule({ accountId }))).toMatchObject({ revision: 1 })
  })
})
