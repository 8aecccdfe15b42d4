import { expect } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import type { LonLat } from '../../schemas/definitions/geofence.ts'
import type {
  ChangedDefinition,
  ChangesPage,
  ChangesQuery,
  NewGeofence,
  NewRule,
} from '../../store/definitions.ts'
import { ChangesFollower } from '../../store/follow-changes.ts'
import { T0 } from '../samples.ts'
import { newAccountId } from './store-samples.ts'
import type { StoreSuite } from './store-suite.ts'

export function definitionsContract({ promise, shared }: StoreSuite): void {
  promise(
    'the progress of the search for devices in changed geofences is stored, and never goes back',
    async ({ accountId, store }) => {
      expect(await store.adoption(accountId)).toBeUndefined()
      const running = { from: T0, to: T0 + 5, done: 50, total: 900 }
      await store.saveAdoption({ accountId, upTo: T0 - 1, running })
      expect(await store.adoption(accountId)).toEqual({ accountId, upTo: T0 - 1, running })
      await store.saveAdoption({ accountId, upTo: T0 + 5 })
      await store.saveAdoption({ accountId, upTo: T0 })
      await shared.reopen()
      expect(await shared.store.adoption(accountId)).toEqual({ accountId, upTo: T0 + 5 })
      expect(await shared.store.adoption(newAccountId())).toBeUndefined()
    },
  )

  promise(
    'a geofence is found by its id and external id, also after a restart',
    async ({ accountId }) => {
      // Names that a database would read as operators or paths, and one that is not a field of an object.
      const properties = JSON.parse('{"$set":"x","a.b":"y","__proto__":"z"}') as Record<
        string,
        string
      >
      const given = newGeofence({ accountId, externalId: '$ne', properties, deviceIds: ['tug'] })
      const [made] = await shared.store.createGeofences([given])
      expect(made).toEqual({ ...given, revision: 1, changedAt: T0, inForceSince: T0 })
      await shared.reopen()
      const { store } = shared
      expect(await store.findGeofence(given)).toEqual(made)
      expect(await store.findGeofenceByExternalId({ accountId, externalId: '$ne' })).toEqual(made)
      expect(await store.findGeofenceByExternalId({ accountId, externalId: 'x' })).toBeUndefined()
    },
  )

  promise(
    'another account never sees, changes or deletes a geofence or rule',
    async ({ accountId, store }) => {
      const geofence = newGeofence({ accountId, externalId: 'depot' })
      const rule = newRule({ accountId, when: { inside: geofence.id } })
      const [made] = await store.createGeofences([geofence])
      const madeRule = await store.createRule(rule)
      const other = newAccountId()
      const asOther = { accountId: other, id: geofence.id, changedAt: T0, deletedAt: T0 }
      const ruleAsOther = { ...asOther, id: rule.id }
      expect(await store.findGeofence(asOther)).toBeUndefined()
      expect(
        await store.findGeofenceByExternalId({ accountId: other, externalId: 'depot' }),
      ).toBeUndefined()
      expect(await store.pageGeofences({ accountId: other, limit: 9 })).toEqual([])
      expect(
        await store.changeGeofence({ ...asOther, next: (one) => ({ ...one, name: 'x' }) }),
      ).toBeUndefined()
      expect(await store.deleteGeofence(asOther)).toBeUndefined()
      expect(await store.findRule(ruleAsOther)).toBeUndefined()
      expect(await store.pageRules({ accountId: other, limit: 9 })).toEqual([])
      expect(
        await store.changeRule({ ...ruleAsOther, next: (one) => ({ ...one, name: 'x' }) }),
      ).toBeUndefined()
      expect(await store.deleteRule(ruleAsOther)).toBeUndefined()
      expect(
        await store.createRule(newRule({ accountId: other, when: { inside: geofence.id } })),
      ).toEqual({
        unknownGeofence: geofence.id,
      })
      expect(await store.findGeofence({ accountId, id: geofence.id })).toEqual(made)
      expect(await store.findRule({ accountId, id: rule.id })).toEqual(madeRule)
      // An external id is unique only within an account.
      const [own] = await store.createGeofences([
        newGeofence({ accountId: other, externalId: 'depot' }),
      ])
      expect(own).toMatchObject({ accountId: other, externalId: 'depot' })
    },
  )

  promise(
    'geofences are paged newest first, even after a deleted one',
    async ({ accountId, store }) => {
      const all = [3, 1, 2, 2].map((n) => newGeofence({ accountId, createdAt: T0 + n }))
      await store.createGeofences(all)
      const sorted = [...all].sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
      const first = await store.pageGeofences({ accountId, limit: 3 })
      expect(first.map(({ id }) => id)).toEqual(sorted.slice(0, 3).map(({ id }) => id))
      const after = first[2]!
      await store.deleteGeofence({ accountId, id: after.id, deletedAt: T0 })
      const next = await store.pageGeofences({ accountId, limit: 3, after })
      expect(next.map(({ id }) => id)).toEqual(sorted.slice(3).map(({ id }) => id))
    },
  )

  promise(
    'an external id is unique when creating and changing, and free again after a deletion',
    async ({ accountId, store }) => {
      const [one, other] = [newGeofence({ accountId, externalId: 'a' }), newGeofence({ accountId })]
      const twice = newGeofence({ accountId, externalId: 'a' })
      const [made, madeOther, refused] = await store.createGeofences([one, other, twice])
      expect([made, madeOther]).toMatchObject([{ id: one.id }, { id: other.id }])
      expect(refused).toBe('external id taken')
      const take = { accountId, id: other.id, changedAt: T0 + 1 }
      const named = () =>
        store.changeGeofence({ ...take, next: (before) => ({ ...before, externalId: 'a' }) })
      expect(await named()).toBe('external id taken')
      await store.deleteGeofence({ accountId, id: one.id, deletedAt: T0 + 1 })
      expect(await named()).toMatchObject({ id: other.id, externalId: 'a', revision: 2 })
    },
  )

  promise(
    'of concurrent creations with one external id, one succeeds',
    async ({ accountId, store }) => {
      const all = Array.from({ length: 5 }, () => newGeofence({ accountId, externalId: 'a' }))
      const outcomes = await Promise.all(all.map((one) => store.createGeofences([one])))
      const made = outcomes.flat().filter((outcome) => typeof outcome !== 'string')
      expect(made).toHaveLength(1)
      expect(await store.pageGeofences({ accountId, limit: 9 })).toEqual(made)
    },
  )

  promise(
    'a change makes a new revision, and a changed reach takes effect from then; a change of nothing makes none',
    async ({ accountId, store }) => {
      const given = newGeofence({ accountId, properties: { colour: 'red' } })
      await store.createGeofences([given])
      const change = (changedAt: number, fields: Partial<NewGeofence>) =>
        store.changeGeofence({
          accountId,
          id: given.id,
          changedAt,
          next: (before) => ({ ...before, ...fields }),
        })
      expect(await change(T0 + 1, { name: given.name })).toMatchObject({
        revision: 1,
        changedAt: T0,
      })
      const renamed = {
        revision: 2,
        changedAt: T0 + 2,
        inForceSince: T0,
        properties: { colour: 'red' },
      }
      expect(await change(T0 + 2, { name: 'New' })).toMatchObject(renamed)
      const disabled = { revision: 3, changedAt: T0 + 3, inForceSince: T0 + 3 }
      expect(await change(T0 + 3, { enabled: false })).toMatchObject(disabled)
      const slower = { revision: 4, inForceSince: T0 + 4 }
      expect(await change(T0 + 4, { confirmSeconds: 90 })).toMatchObject(slower)
      const without = newGeofence({ accountId })
      await store.changeGeofence({
        accountId,
        id: given.id,
        changedAt: T0 + 5,
        next: () => without,
      })
      expect(await store.findGeofence(given)).not.toHaveProperty('properties')
    },
  )

  promise('concurrent changes are all applied', async ({ accountId, store }) => {
    const given = newGeofence({ accountId })
    await store.createGeofences([given])
    const fields = [{ name: 'x' }, { confirmSeconds: 5 }, { enabled: false }, { labels: ['a'] }]
    await Promise.all(
      fields.map((field) =>
        store.changeGeofence({
          accountId,
          id: given.id,
          changedAt: T0,
          next: (one) => ({ ...one, ...field }),
        }),
      ),
    )
    const expected = { name: 'x', confirmSeconds: 5, enabled: false, labels: ['a'], revision: 5 }
    expect(await store.findGeofence(given)).toMatchObject(expected)
  })

  promise(
    'a geofence that a rule names is not deleted, until the rule is gone or names another',
    async ({ accountId, store }) => {
      const [one, other, scope] = [
        newGeofence({ accountId }),
        newGeofence({ accountId }),
        newGeofence({ accountId }),
      ]
      await store.createGeofences([one, other, scope])
      const rule = await store.createRule(
        newRule({ accountId, when: { inside: one.id }, geofenceIds: [scope.id] }),
      )
      if (typeof rule === 'string' || 'unknownGeofence' in rule) throw new Error('refused')
      const remove = (id: string) => store.deleteGeofence({ accountId, id, deletedAt: T0 + 9 })
      expect(await remove(one.id)).toEqual({ namedBy: rule })
      expect(await remove(scope.id)).toEqual({ namedBy: rule })
      const changed = await store.changeRule({
        accountId,
        id: rule.id,
        changedAt: T0 + 1,
        next: (before) => ({ ...before, when: { outside: other.id } }),
      })
      expect(changed).toMatchObject({ revision: 2, changedAt: T0 + 1 })
      expect(await remove(one.id)).toMatchObject({ deleted: { id: one.id } })
      expect(await remove(one.id)).toBeUndefined()
      await store.deleteRule({ accountId, id: rule.id, deletedAt: T0 + 2 })
      expect(await remove(other.id)).toMatchObject({ deleted: { id: other.id } })
    },
  )

  promise(
    'a rule created while its geofence is deleted never names a missing geofence',
    async ({ accountId, store }) => {
      for (let n = 0; n < 10; n += 1) {
        const geofence = newGeofence({ accountId })
        await store.createGeofences([geofence])
        const rule = newRule({ accountId, when: { inside: geofence.id } })
        await Promise.all([
          store.createRule(rule),
          store.deleteGeofence({ accountId, id: geofence.id, deletedAt: T0 }),
        ])
        const isNamed = (await store.findRule(rule)) !== undefined
        if (isNamed) expect(await store.findGeofence(geofence)).toBeDefined()
      }
    },
  )

  promise(
    'an erased device is removed from definitions, except ones changed since; their revision stays',
    async ({ accountId, store }) => {
      const deviceIds = ['tug', 'ferry']
      const geofences = Array.from({ length: 260 }, () => newGeofence({ accountId, deviceIds }))
      const [later, alone, other] = [
        newGeofence({ accountId, deviceIds }),
        newGeofence({ accountId, deviceIds: ['tug'] }),
        newGeofence({ accountId: newAccountId(), deviceIds }),
      ]
      await store.createGeofences([...geofences, later, alone])
      await store.createGeofences([other])
      const rule = newRule({ accountId, deviceIds })
      await store.createRule(rule)
      const next = (before: object) => ({ ...before, name: 'Later' }) as NewGeofence
      await store.changeGeofence({ accountId, id: later.id, changedAt: T0 + 20, next })
      const erased = new Map([['tug', T0 + 10]])
      await store.forgetInDefinitions({ accountId, erased, changedAt: T0 + 30 })
      const ids = new Set(geofences.map(({ id }) => id))
      const listed = await store.pageGeofences({ accountId, limit: 999 })
      const left = { deviceIds: ['ferry'], revision: 1, inForceSince: T0 }
      expect(listed.filter(({ id }) => ids.has(id))).toMatchObject(geofences.map(() => left))
      expect(await store.findGeofence(later)).toMatchObject({ deviceIds })
      expect(await store.findGeofence(alone)).toMatchObject({ deviceIds: [] })
      expect(await store.findGeofence(other)).toMatchObject({ deviceIds })
      expect(await store.findRule(rule)).toMatchObject({
        deviceIds: ['ferry'],
        revision: 1,
        changedAt: T0,
      })
    },
  )

  promise(
    'processes follow the changes of all definitions, including deletions and erasures',
    async ({ accountId, store }) => {
      const from = T0 + 1_000_000
      const [kept, deleted] = [1, 2].map((n) =>
        newGeofence({ accountId, createdAt: from + n, deviceIds: ['tug', 'ferry'] }),
      ) as [NewGeofence, NewGeofence]
      const rule = newRule({ accountId, createdAt: from + 3 })
      const changes = ownChanges((query) => store.changedGeofences(query), [kept, deleted])
      const [made, madeOther] = await store.createGeofences([kept, deleted])
      const madeRule = await store.createRule(rule)
      expect(await changes()).toMatchObject([{ definition: made }, { definition: madeOther }])
      await store.deleteGeofence({ accountId, id: deleted.id, deletedAt: from + 5 })
      const gone = { id: deleted.id, changedAt: from + 5, version: expect.any(Number) }
      expect(await changes()).toEqual([gone])
      expect(await changes()).toEqual([])
      const rules = ownChanges((query) => store.changedRules(query), [rule])
      expect(await rules()).toMatchObject([{ definition: madeRule }])
      await store.forgetInDefinitions({
        accountId,
        erased: new Map([['tug', from + 3]]),
        changedAt: from + 9,
      })
      const without = { ...(made as object), deviceIds: ['ferry'] }
      expect(await changes()).toMatchObject([{ id: kept.id, definition: without }])
      const fromTheFirst = () =>
        ownChanges((query) => store.changedGeofences(query), [kept, deleted])()
      await store.removeOutdated(from + 5 + 24 * 3_600_000)
      expect(await fromTheFirst()).toHaveLength(2)
      await store.removeOutdated(from + 6 + 24 * 3_600_000)
      expect(await fromTheFirst()).toMatchObject([{ id: kept.id, definition: without }])
    },
  )

  promise(
    'a change by a process whose clock is far behind is noticed like any other',
    async ({ accountId, store }) => {
      const [geofence, rule] = [newGeofence({ accountId }), newRule({ accountId })]
      const geofences = ownChanges((query) => store.changedGeofences(query), [geofence])
      const rules = ownChanges((query) => store.changedRules(query), [rule])
      await store.createGeofences([geofence])
      await store.createRule(rule)
      await Promise.all([geofences(), rules()])
      const late = { accountId, changedAt: T0 - 3_600_000 }
      const renamed = <Content>(before: Content) => ({ ...before, name: 'Later' })
      await store.changeGeofence({ ...late, id: geofence.id, next: renamed })
      await store.changeRule({ ...late, id: rule.id, next: renamed })
      expect(await geofences()).toMatchObject([{ definition: { name: 'Later' } }])
      expect(await rules()).toMatchObject([{ definition: { name: 'Later' } }])
      await store.deleteRule({ ...late, id: rule.id, deletedAt: T0 - 3_600_000 })
      expect(await rules()).toMatchObject([{ id: rule.id }])
    },
  )

  promise(
    'the names of geofences are paged without their shapes, with versions that grow with every change',
    async ({ accountId, store }) => {
      expect(await store.newestGeofenceVersion(accountId)).toBe(0)
      const all = [1, 2, 3].map((n) =>
        newGeofence({ accountId, createdAt: T0 + n, name: `Berth ${n}`, shape: polygon(900) }),
      )
      await store.createGeofences(all)
      const first = await store.pageGeofenceNames({ accountId, limit: 2 })
      expect(first).toEqual(
        [all[2]!, all[1]!].map(({ id, name, createdAt }) => {
          return { id, name, createdAt, version: expect.any(Number) }
        }),
      )
      const after = first[1]!
      const rest = await store.pageGeofenceNames({ accountId, limit: 2, after })
      expect(rest).toMatchObject([{ id: all[0]!.id, name: 'Berth 1' }])
      const newest = await store.newestGeofenceVersion(accountId)
      expect(newest).toBe(Math.max(...[...first, ...rest].map(({ version }) => version)))
      await store.createGeofences([newGeofence({ accountId: newAccountId() })])
      expect(await store.newestGeofenceVersion(accountId)).toBe(newest)
      await store.deleteGeofence({ accountId, id: all[1]!.id, deletedAt: T0 + 9 })
      expect(await store.newestGeofenceVersion(accountId)).toBeGreaterThan(newest)
    },
  )
}

/** Follows only these: other tests share the store. */
export function ownChanges<Definition>(
  read: (query: ChangesQuery) => Promise<ChangesPage<Definition>>,
  own: readonly { readonly id: string }[],
): () => Promise<readonly ChangedDefinition<Definition>[]> {
  const follower = new ChangesFollower(read, { clock: { now: () => T0 } })
  return async function changes() {
    const found: ChangedDefinition<Definition>[] = []
    for await (const part of follower.changes()) found.push(...part)
    return found.filter(({ id }) => own.some((one) => one.id === id))
  }
}

export function newGeofence(
  given: Partial<NewGeofence> & { readonly accountId: string },
): NewGeofence {
  return {
    id: randomUUID(),
    createdAt: T0,
    name: 'Depot',
    shape: { type: 'circle', latitude: 45.27, longitude: 13.7, radius: 60 },
    confirmSeconds: 0,
    enabled: true,
    ...given,
  }
}

export function newRule(given: Partial<NewRule> & { readonly accountId: string }): NewRule {
  return {
    id: randomUUID(),
    createdAt: T0,
    name: 'Fast',
    when: { field: 'speed', above: 30 },
    forSeconds: 0,
    enabled: true,
    ...given,
  }
}

export function polygon(corners: number) {
  const ring = Array.from({ length: corners }, (_, n): LonLat => {
    const turn = (2 * Math.PI * n) / corners
    return [Math.cos(turn), Math.sin(turn)]
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0]!]] } as const
}
