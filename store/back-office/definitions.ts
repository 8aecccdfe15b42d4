import { isDeepStrictEqual } from 'node:util'
import { geofencesOf, MOST_RULES, type DeviceRule } from '../../schemas/device-rule.ts'
import { verticesOf, type Geofence, type GeofenceContent } from '../../schemas/geofence.ts'
import type { DeviceSubscription } from '../../schemas/subscription.ts'
import type { DefinitionStore, GeofenceRefused, NewGeofence, RuleRefused } from '../definitions.ts'
import type { DocumentStore } from '../documents.ts'
import { adoptionsOf, type AdoptionDocument } from './adoptions.ts'
import { definitionDocuments, type DefinitionDocument } from './definition-documents.ts'
import { geofenceTotals, type GeofenceTotals } from './geofence-totals.ts'

/** Geofences and rules, on top of a database's documents. */
export function definitionsOf(open: {
  geofences: DocumentStore<DefinitionDocument>
  rules: DocumentStore<DefinitionDocument>
  totals: DocumentStore<GeofenceTotals>
  adoptions: DocumentStore<AdoptionDocument>
  subscriptions: DocumentStore<DefinitionDocument>
}): DefinitionStore {
  const geofences = definitionDocuments<Geofence>(open.geofences)
  const rules = definitionDocuments<DeviceRule>(open.rules)
  const subscriptions = definitionDocuments<DeviceSubscription>(open.subscriptions)
  const totals = geofenceTotals(open.totals, geofences.all)

  /** All of one account. */
  async function create(
    all: readonly NewGeofence[],
  ): Promise<readonly (Geofence | GeofenceRefused)[]> {
    const accountId = all[0]?.accountId ?? ''
    const refused = await totals.take(accountId, amountOf(all))
    if (refused !== undefined) {
      if (all.length <= 1) return all.map(() => refused)
      const half = Math.ceil(all.length / 2)
      return [...(await create(all.slice(0, half))), ...(await create(all.slice(half)))]
    }
    const stored = await geofences.insert(
      all.map((geofence) => {
        const { createdAt } = geofence
        return { ...geofence, revision: 1, changedAt: createdAt, inForceSince: createdAt }
      }),
    )
    const byId = new Map(stored.map((geofence) => [geofence.id, geofence]))
    const refusedOnes = all.filter(({ id }) => !byId.has(id))
    if (refusedOnes.length > 0) await totals.giveBack(accountId, amountOf(refusedOnes))
    return all.map(({ id }) => byId.get(id) ?? 'external id taken')
  }

  async function ruleNaming(
    accountId: string,
    geofenceId: string,
  ): Promise<DeviceRule | undefined> {
    const all = await rules.page({ accountId, limit: MOST_RULES })
    return all.find((rule) => geofencesOf(rule).includes(geofenceId))
  }

  async function unknownGeofence(rule: DeviceRule): Promise<RuleRefused | undefined> {
    const { accountId } = rule
    for (const id of new Set(geofencesOf(rule))) {
      if ((await geofences.get({ accountId, id })) === undefined) return { unknownGeofence: id }
    }
    return undefined
  }

  return {
    createGeofences: async (all) => (all.length === 0 ? [] : create(all)),

    pageGeofences: geofences.page,
    pageGeofenceNames: geofences.pageNames,
    newestGeofenceVersion: geofences.newestVersion,
    findGeofence: geofences.get,
    findGeofenceByExternalId: geofences.findExternal,

    async changeGeofence({ accountId, id, changedAt, next }) {
      let taken = 0
      const outcome = await geofences.change<GeofenceRefused>({ accountId, id }, async (before) => {
        const content = next(before)
        const after = changedGeofence(before, content, changedAt)
        const { externalId } = after
        if (externalId !== undefined && externalId !== before.externalId) {
          const other = await geofences.findExternal({ accountId, externalId })
          if (other !== undefined) return { refused: 'external id taken' }
        }
        const vertices = verticesOf(after.shape) - verticesOf(before.shape)
        if (vertices - taken > 0) {
          const refused = await totals.take(accountId, { geofences: 0, vertices: vertices - taken })
          if (refused !== undefined) {
            await totals.giveBack(accountId, { geofences: 0, vertices: taken })
            return { refused }
          }
        } else await totals.giveBack(accountId, { geofences: 0, vertices: taken - vertices })
        taken = vertices
        return { next: after }
      })
      if (outcome === undefined) await totals.giveBack(accountId, { geofences: 0, vertices: taken })
      return outcome
    },

    async deleteGeofence({ accountId, id, deletedAt }) {
      const before = await ruleNaming(accountId, id)
      if (before !== undefined && (await geofences.get({ accountId, id })) !== undefined) {
        return { namedBy: before }
      }
      const deleted = await geofences.remove({ accountId, id }, deletedAt)
      if (deleted === undefined) return undefined
      // A rule that was made meanwhile has found the geofence.
      const namedBy = await ruleNaming(accountId, id)
      if (namedBy !== undefined) {
        await geofences.restore(deleted)
        return { namedBy }
      }
      await totals.giveBack(accountId, { geofences: 1, vertices: verticesOf(deleted.shape) })
      return { deleted }
    },

    async createRule(rule) {
      const { accountId, id, createdAt } = rule
      const whole: DeviceRule = { ...rule, revision: 1, changedAt: createdAt }
      const unknown = await unknownGeofence(whole)
      if (unknown !== undefined) return unknown
      await rules.insert([whole])
      const all = await rules.page({ accountId, limit: MOST_RULES + 1 })
      // The geofence may have been deleted before this rule was there.
      const refused = all.length > MOST_RULES ? 'too many rules' : await unknownGeofence(whole)
      if (refused === undefined) return whole
      await rules.remove({ accountId, id }, createdAt)
      return refused
    },

    pageRules: rules.page,
    findRule: rules.get,

    changeRule: ({ accountId, id, changedAt, next }) =>
      rules.change<RuleRefused>({ accountId, id }, async (before) => {
        const { revision, createdAt } = before
        const own = { id, accountId, createdAt }
        const same = { ...next(before), ...own, revision, changedAt: before.changedAt }
        if (isDeepStrictEqual(same, before)) return { next: before }
        const refused = await unknownGeofence(same)
        if (refused !== undefined) return { refused }
        return { next: { ...same, revision: revision + 1, changedAt } }
      }),

    deleteRule: ({ accountId, id, deletedAt }) => rules.remove({ accountId, id }, deletedAt),

    async forgetInDefinitions(devices) {
      for (const kind of [geofences, rules, subscriptions]) await kind.forget(devices)
    },

    changedGeofences: geofences.changed,
    changedRules: rules.changed,

    ...adoptionsOf(open.adoptions),
  }
}

function amountOf(all: readonly GeofenceContent[]) {
  const vertices = all.reduce((sum, { shape }) => sum + verticesOf(shape), 0)
  return { geofences: all.length, vertices }
}

/** The same geofence if nothing has changed. */
function changedGeofence(before: Geofence, content: GeofenceContent, changedAt: number): Geofence {
  const { id, accountId, createdAt, revision, inForceSince } = before
  const own = { id, accountId, createdAt, inForceSince }
  const same: Geofence = { ...content, ...own, revision, changedAt: before.changedAt }
  if (isDeepStrictEqual(same, before)) return before
  const isSameReach = isDeepStrictEqual(reachOf(content), reachOf(before))
  return {
    ...content,
    ...own,
    revision: revision + 1,
    changedAt,
    inForceSince: isSameReach ? inForceSince : changedAt,
  }
}

/** What decides where a device is; the name and the properties are only told. */
function reachOf({ shape, deviceIds, labels, confirmSeconds, enabled }: GeofenceContent) {
  return { shape, deviceIds, labels, confirmSeconds, enabled }
}
