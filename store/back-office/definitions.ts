import { isDeepStrictEqual } from 'node:util'
import { geofencesOf, MOST_RULES, type DeviceRule } from '../../schemas/definitions/device-rule.ts'
import type { Geofence, GeofenceContent } from '../../schemas/definitions/geofence.ts'
import type { DeviceSubscription } from '../../schemas/subscriptions/subscription.ts'
import type {
  DefinitionStore,
  GeofenceRefused,
  NewGeofence,
  RuleRefused,
  Adoption,
  AdoptionStore,
} from '../definitions.ts'
import {
  listChangedFields,
  updateFieldRevisions,
} from '../../schemas/definitions/changed-fields.ts'
import type { DocumentStore, Kind } from '../documents.ts'
import { changeDocument } from './changing.ts'
import { amountOf, definitionDocuments, type DefinitionDocument } from './definition-documents.ts'
import {
  minus,
  NOTHING,
  addAmounts,
  type Amount,
  type DefinitionTotals,
} from './definition-totals.ts'

/** Geofences and rules, on top of a database's documents. */
export function definitionsOf(open: {
  geofences: DocumentStore<DefinitionDocument>
  rules: DocumentStore<DefinitionDocument>
  totals: DefinitionTotals
  adoptions: DocumentStore<AdoptionDocument>
  subscriptions: DocumentStore<DefinitionDocument>
}): DefinitionStore {
  const geofences = definitionDocuments<Geofence>(open.geofences)
  const rules = definitionDocuments<DeviceRule>(open.rules)
  const subscriptions = definitionDocuments<DeviceSubscription>(open.subscriptions)
  const { totals } = open

  /** All must belong to one account. */
  async function create(
    all: readonly NewGeofence[],
  ): Promise<readonly (Geofence | GeofenceRefused)[]> {
    const accountId = all[0]?.accountId ?? ''
    const whole = all.map((geofence): Geofence => {
      const { createdAt } = geofence
      return { ...geofence, revision: 1, changedAt: createdAt, inForceSince: createdAt }
    })
    const refused = await totals.take(accountId, whole.map(amountOf))
    const fitting = whole.filter((_, n) => refused[n] === undefined)
    const stored = await geofences.insert(fitting)
    const byId = new Map(stored.map((geofence) => [geofence.id, geofence]))
    const taken = fitting.filter(({ id }) => !byId.has(id)).map(amountOf)
    await totals.giveBack(accountId, taken.reduce(addAmounts, NOTHING))
    return all.map(({ id }, n) => refused[n] ?? byId.get(id) ?? 'external id taken')
  }

  async function ruleNaming(
    accountId: string,
    geofenceId: string,
  ): Promise<DeviceRule | undefined> {
    for await (const page of rules.all(accountId)) {
      const naming = page.find((rule) => geofencesOf(rule).includes(geofenceId))
      if (naming !== undefined) return naming
    }
    return undefined
  }

  async function refuseUnknownGeofence(rule: DeviceRule): Promise<RuleRefused | undefined> {
    const { accountId } = rule
    for (const id of new Set(geofencesOf(rule))) {
      if ((await geofences.get({ accountId, id })) === undefined) return { unknownGeofence: id }
    }
    return undefined
  }

  /** Undoes the count of a change unless it `isStored`. */
  async function keepIf<Outcome>(
    changing: Promise<Outcome>,
    isStored: (outcome: Outcome) => boolean,
    accountId: string,
    taken: () => Amount,
  ): Promise<Outcome> {
    let isKept = false
    try {
      const outcome = await changing
      isKept = isStored(outcome)
      return outcome
    } finally {
      if (!isKept) await totals.giveBack(accountId, taken())
    }
  }

  return {
    createGeofences: async (all) => (all.length === 0 ? [] : create(all)),

    pageGeofences: geofences.page,
    pageGeofenceNames: geofences.pageNames,
    newestGeofenceVersion: geofences.newestVersion,
    findGeofence: geofences.get,
    findGeofenceByExternalId: geofences.findExternal,

    async changeGeofence({ accountId, id, changedAt, next }) {
      let taken = NOTHING
      const changing = geofences.change<GeofenceRefused>({ accountId, id }, async (before) => {
        const content = next(before)
        const after = applyGeofenceChange(before, content, changedAt)
        const { externalId } = after
        if (externalId !== undefined && externalId !== before.externalId) {
          const other = await geofences.findExternal({ accountId, externalId })
          if (other !== undefined) return { refused: 'external id taken' }
        }
        const more = minus(amountOf(after), amountOf(before))
        const [refused] = await totals.take(accountId, [minus(more, taken)])
        if (refused !== undefined) return { refused }
        taken = more
        return { next: after }
      })
      return keepIf(
        changing,
        (outcome) => typeof outcome === 'object',
        accountId,
        () => taken,
      )
    },

    async deleteGeofence({ accountId, id, deletedAt }) {
      const before = await ruleNaming(accountId, id)
      if (before !== undefined && (await geofences.get({ accountId, id })) !== undefined) {
        return { namedBy: before }
      }
      const deleted = await geofences.remove({ accountId, id }, deletedAt)
      if (deleted === undefined) return undefined
      // A rule created in the meantime has found the geofence.
      const namedBy = await ruleNaming(accountId, id)
      if (namedBy !== undefined) {
        await geofences.restore(deleted)
        return { namedBy }
      }
      await totals.giveBack(accountId, amountOf(deleted))
      return { deleted }
    },

    async createRule(rule) {
      const { accountId, id, createdAt } = rule
      const whole: DeviceRule = { ...rule, revision: 1, changedAt: createdAt }
      const unknown = await refuseUnknownGeofence(whole)
      if (unknown !== undefined) return unknown
      const { bytes } = amountOf(whole)
      const isTooLarge = await totals.takeBytes(accountId, bytes)
      if (isTooLarge !== undefined) return isTooLarge
      await rules.insert([whole])
      const all = await rules.pageNames({ accountId, limit: MOST_RULES + 1 })
      // The geofence may have been deleted before this rule was stored.
      const refused =
        all.length > MOST_RULES ? 'too many rules' : await refuseUnknownGeofence(whole)
      if (refused === undefined) return whole
      await rules.remove({ accountId, id }, createdAt)
      await totals.giveBack(accountId, { ...NOTHING, bytes })
      return refused
    },

    pageRules: rules.page,
    findRule: rules.get,

    async changeRule({ accountId, id, changedAt, next }) {
      let taken = 0
      const changing = rules.change<RuleRefused>({ accountId, id }, async (before) => {
        const { revision, createdAt } = before
        const same = { ...next(before), id, accountId, createdAt }
        const fields = listChangedFields(before, same)
        if (fields.length === 0) return { next: before }
        const versions = {
          revision: revision + 1,
          changedAt,
          ...updateFieldRevisions(before, fields),
        }
        const after = { ...same, ...versions }
        const more = amountOf(after).bytes - amountOf(before).bytes
        const refused =
          (await refuseUnknownGeofence(after)) ?? (await totals.takeBytes(accountId, more - taken))
        if (refused !== undefined) return { refused }
        taken = more
        return { next: after }
      })
      const isStored = (outcome: object | string | undefined) => 'revision' in Object(outcome)
      return keepIf(changing, isStored, accountId, () => ({ ...NOTHING, bytes: taken }))
    },

    async deleteRule({ accountId, id, deletedAt }) {
      const deleted = await rules.remove({ accountId, id }, deletedAt)
      if (deleted !== undefined) await totals.giveBack(accountId, amountOf(deleted))
      return deleted
    },

    async forgetInDefinitions(devices) {
      for (const kind of [geofences, rules, subscriptions]) await kind.forget(devices)
    },

    changedGeofences: geofences.changed,
    changedRules: rules.changed,

    ...adoptionsOf(open.adoptions),
  }
}

/** Returns the same geofence if nothing has changed. */
function applyGeofenceChange(
  before: Geofence,
  content: GeofenceContent,
  changedAt: number,
): Geofence {
  const { id, accountId, createdAt, revision, inForceSince, enabledSince } = before
  const own = {
    id,
    accountId,
    createdAt,
    inForceSince,
    ...(enabledSince !== undefined && { enabledSince }),
  }
  const fields = listChangedFields(before, content)
  if (fields.length === 0) return before
  const isSameReach = isDeepStrictEqual(reachOf(content), reachOf(before))
  return {
    ...content,
    ...own,
    revision: revision + 1,
    ...updateFieldRevisions(before, fields),
    changedAt,
    inForceSince: isSameReach ? inForceSince : changedAt,
    ...(content.enabled && !before.enabled && { enabledSince: changedAt }),
  }
}

/** The fields that decide where a device is; name and properties are only displayed. */
function reachOf({ shape, deviceIds, labels, confirmSeconds, enabled }: GeofenceContent) {
  return { shape, deviceIds, labels, confirmSeconds, enabled }
}

/** The document's id is the account's id. */
type AdoptionDocument = Omit<Adoption, 'accountId'> & { readonly id: string }

export const ADOPTIONS: Kind<AdoptionDocument> = { name: 'adoptions', indexes: {} }

/** The progress of looking for devices in changed geofences. */
function adoptionsOf(documents: DocumentStore<AdoptionDocument>): AdoptionStore {
  return {
    async adoption(accountId) {
      const document = await documents.get(accountId)
      if (document === undefined) return undefined
      const { upTo, running } = document
      return { accountId, upTo, ...(running !== undefined && { running }) }
    },

    async saveAdoption({ accountId, upTo, running }) {
      const content = { id: accountId, ...(running !== undefined && { running }) }
      if ((await documents.insert([{ ...content, upTo }])).length === 1) return
      await changeDocument(documents, accountId, ({ revision, upTo: before }) => ({
        ...content,
        upTo: Math.max(before, upTo),
        revision,
      }))
    },
  }
}
