import type { Collection, Filter } from 'mongodb'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import {
  findStandingSince,
  type DeviceSince,
  type DueDevice,
  type FactStore,
  type FactsQuery,
} from '../facts.ts'
import { READ, type DeviceSettingsDocument } from './collections.ts'
import { mongoWatchSettings } from './watch-settings.ts'
import { boundIds } from './device-search.ts'
import {
  accountFilter,
  toFactState,
  type FactCollections,
  type FactDocument,
  type StateDocument,
} from './fact-documents.ts'
import { factWrites } from './judge-facts.ts'
import type { Versions } from './versions.ts'

export type FactReads = Pick<
  FactStore,
  | 'pageFacts'
  | 'findFacts'
  | 'heldFacts'
  | 'watchSettings'
  | 'judgedDevices'
  | 'definitionsStates'
  | 'devicesWith'
>

/** Facts of an earlier life of a device, inserted after its erasure, are never read. */
function factReads({
  collections: { states, facts },
  deviceSettings,
  settingsVersions,
  hiddenDevices,
}: {
  collections: FactCollections
  deviceSettings: Collection<DeviceSettingsDocument>
  settingsVersions: Versions
  hiddenDevices: (accountId: string) => Promise<readonly string[]>
}): FactReads {
  type OfLife = Pick<FactDocument, 'accountId' | 'deviceId' | 'life'>

  async function dropEarlierLives<Document extends OfLife>(
    documents: readonly Document[],
  ): Promise<readonly Document[]> {
    const devices = [...new Set(documents.map(deviceKey))]
    const found = await states
      .find({ _id: { $in: devices } }, READ)
      .project<Pick<StateDocument, '_id' | 'life'>>({ life: 1 })
      .toArray()
    const lives = new Map(found.map(({ _id, life }) => [_id, life]))
    return documents.filter((one) => one.life === (lives.get(deviceKey(one)) ?? one.life))
  }

  /** The position of a fact that has been removed since, if this version inserted it. */
  async function placeOf(
    accountId: string,
    { at, sequence, id }: NonNullable<FactsQuery['after']>,
  ): Promise<FactPlace> {
    const _id = `${accountId}/${id}`
    return (await facts.findOne({ _id }, READ)) ?? { _id, at, sequence }
  }

  return {
    async pageFacts(query) {
      const hidden = await hiddenDevices(query.accountId)
      const page: DeviceFact[] = []
      let after = query.after && (await placeOf(query.accountId, query.after))
      for (;;) {
        const limit = query.limit - page.length
        const documents = await facts
          .find(buildFilter(query, hidden, after), READ)
          .sort({ at: -1, sequence: -1, _id: -1 })
          .limit(limit)
          .toArray()
        for (const { fact } of await dropEarlierLives(documents))
          page.push(JSON.parse(fact) as DeviceFact)
        const last = documents.at(-1)
        if (last === undefined || documents.length < limit || page.length === query.limit) {
          return page
        }
        after = last
      }
    },

    async findFacts({ accountId, ids }) {
      const hidden = new Set(await hiddenDevices(accountId))
      const _id = { $in: ids.map((id) => `${accountId}/${id}`) }
      const found = await dropEarlierLives(await facts.find({ _id }, READ).toArray())
      return found.flatMap(({ deviceId, fact }) =>
        hidden.has(deviceId) ? [] : [JSON.parse(fact) as DeviceFact],
      )
    },

    async heldFacts({ accountId, facts: asked }) {
      const hidden = new Set(await hiddenDevices(accountId))
      const shown = asked.flatMap(({ id, deviceId }) => (hidden.has(deviceId) ? [] : [id]))
      const _id = { $in: shown.map((id) => `${accountId}/${id}`) }
      const found = await facts
        .find({ _id }, READ)
        .project<OfLife & Pick<FactDocument, '_id'>>({ accountId: 1, deviceId: 1, life: 1 })
        .toArray()
      return new Set(
        (await dropEarlierLives(found)).map(({ _id }) => _id.slice(accountId.length + 1)),
      )
    },

    watchSettings: mongoWatchSettings(deviceSettings, settingsVersions),

    async judgedDevices({ accountId, after, limit }) {
      const range = accountFilter(accountId)
      const from = after === undefined ? {} : { $gt: deviceKey({ accountId, deviceId: after }) }
      return states
        .find({ _id: { ...range, ...from } }, READ)
        .sort({ _id: 1 })
        .limit(limit)
        .project<DueDevice>({ _id: 0, accountId: 1, deviceId: 1 })
        .toArray()
    },

    async definitionsStates({ accountId, deviceIds }) {
      const ids = deviceIds.map((deviceId) => deviceKey({ accountId, deviceId }))
      const documents = await states.find({ _id: { $in: ids } }, READ).toArray()
      return new Map(
        documents.flatMap((document) => {
          const { definitions } = toFactState(document)
          return definitions === undefined ? [] : [[document.deviceId, definitions] as const]
        }),
      )
    },

    async devicesWith({ accountId, definitionId, revision, after, limit }) {
      const hidden = new Set(await hiddenDevices(accountId))
      const devices: DeviceSince[] = []
      let last = deviceKey({ accountId, deviceId: after ?? '' })
      for (;;) {
        const documents = await states
          .find({ accountId, holding: definitionId, _id: { $gt: last } }, READ)
          .sort({ _id: 1 })
          .limit(limit)
          .project<Pick<StateDocument, '_id' | 'deviceId' | 'state'>>({ deviceId: 1, state: 1 })
          .toArray()
        for (const { deviceId, ...document } of documents) {
          const { definitions } = toFactState(document)
          const since = definitions && findStandingSince(definitions, definitionId, revision)
          if (since !== undefined && !hidden.has(deviceId)) devices.push({ deviceId, since })
        }
        const end = documents.at(-1)
        if (end === undefined || documents.length < limit || devices.length >= limit) break
        last = end._id
      }
      return devices.slice(0, limit)
    },
  }
}

type FactPlace = Pick<FactDocument, '_id' | 'at' | 'sequence'>

function buildFilter(
  query: FactsQuery,
  hidden: readonly string[],
  after: FactPlace | undefined,
): Filter<FactDocument> {
  const { accountId, devices, deviceId, deviceIds, type, definitionId, from, to } = query
  const conditions: Filter<FactDocument>[] = [{ accountId }]
  if (deviceId !== undefined) conditions.push({ deviceId })
  if (deviceIds !== undefined) conditions.push({ deviceId: { $in: [...deviceIds] } })
  if (type !== undefined) conditions.push({ type })
  if (definitionId !== undefined) conditions.push({ definitionId })
  if (from !== undefined) conditions.push({ at: { $gte: from } })
  if (to !== undefined) conditions.push({ at: { $lt: to } })
  if (after !== undefined) {
    const { _id, at, sequence } = after
    const others: Filter<FactDocument>[] =
      sequence === undefined
        ? [{ at, sequence: null as never, _id: { $lt: _id } }]
        : [
            { at, sequence: { $lt: sequence } },
            { at, sequence: null as never },
            { at, sequence, _id: { $lt: _id } },
          ]
    conditions.push({ at: { $lte: at } }, { $or: [{ at: { $lt: at } }, ...others] })
  }
  for (const filter of boundIds(devices)) conditions.push(filter as Filter<FactDocument>)
  if (hidden.length > 0) conditions.push({ deviceId: { $nin: [...hidden] } })
  return { $and: conditions }
}

export function mongoFacts(
  options: Parameters<typeof factReads>[0] & Parameters<typeof factWrites>[0],
): FactStore {
  return { ...factReads(options), ...factWrites(options) }
}
