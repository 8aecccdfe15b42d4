import { randomUUID } from 'node:crypto'
import type { AnyBulkWriteOperation, Collection, Db, Filter } from 'mongodb'
import type { FactState } from '../../schemas/fact-state.ts'
import type { DeviceFact } from '../../schemas/facts.ts'
import { deviceKey } from '../../schemas/position-reported.ts'
import {
  definitionIdOf,
  erasedState,
  standingSince,
  stateSeenAt,
  type DueDevice,
  type EntriesRead,
  type FactStore,
  type FactsBatch,
  type FactsQuery,
  type JudgeDevice,
  type WatchSettings,
} from '../facts.ts'
import { WentBackError } from '../projection-batch.ts'
import { READ, type DeviceSettingsDocument } from './collections.ts'
import { listed } from './device-search.ts'
import { duplicatesOf, isDuplicateKey } from './driver-errors.ts'

/** `_id` is `accountId/deviceId`. As text: names of alarms may be no names of fields. */
type StateDocument = {
  readonly _id: string
  readonly accountId: string
  readonly deviceId: string
  readonly partition: number
  /** Null: never. While there is an outbox, 0: whoever looks completes it. */
  readonly due: number | null
  readonly seenAt: Date
  readonly state: string
  /** Another one with each change. */
  readonly revision: string
  readonly outbox?: readonly string[]
}

type FactDocument = {
  readonly _id: string
  readonly accountId: string
  readonly deviceId: string
  readonly type: DeviceFact['type']
  /** The geofence or rule that it is about. */
  readonly definitionId?: string
  readonly at: number
  readonly decidedAt: Date
  /** The erasure that began the device's life; '' before any. */
  readonly life: string
  readonly fact: string
}

/** `_id`: the partition, or `BEGUN`. */
type ProgressDocument = {
  readonly _id: number
  readonly upTo: number
  readonly offset?: number
  readonly id?: string
}

const BEGUN = -1

type FactCollections = {
  readonly states: Collection<StateDocument>
  readonly facts: Collection<FactDocument>
  readonly progress: Collection<ProgressDocument>
}

export function openFactCollections(db: Db): FactCollections {
  return {
    states: db.collection('fact_states'),
    facts: db.collection('facts'),
    progress: db.collection('fact_progress'),
  }
}

export async function makeFactIndexes({ states, facts }: FactCollections): Promise<void> {
  await states.createIndexes([
    { name: 'due', key: { partition: 1, due: 1 }, partialFilterExpression: { due: { $gte: 0 } } },
  ])
  await facts.createIndexes([
    { name: 'account', key: { accountId: 1, at: 1, _id: 1 } },
    { name: 'type', key: { accountId: 1, type: 1, at: 1, _id: 1 } },
    { name: 'device', key: { accountId: 1, deviceId: 1, at: 1, _id: 1 } },
    {
      name: 'definition',
      key: { accountId: 1, definitionId: 1, at: 1, _id: 1 },
      partialFilterExpression: { definitionId: { $exists: true } },
    },
    { name: 'decided', key: { decidedAt: 1 } },
  ])
}

/**
 * Works on a standalone server: a device's state is written by compare-and-set together with its new facts
 * (`outbox`), then the facts are inserted by id and published, and last the outbox is cleared. Each step can be
 * repeated, so a crash in between neither loses nor doubles a fact.
 */
export function mongoFacts({
  collections: { states, facts, progress },
  deviceSettings,
  hiddenDevices,
}: {
  collections: FactCollections
  deviceSettings: Collection<DeviceSettingsDocument>
  hiddenDevices: (accountId: string) => Promise<readonly string[]>
}): FactStore {
  async function offsets(): Promise<ReadonlyMap<number, ProgressDocument>> {
    const found = await progress.find({}, READ).toArray()
    return new Map(found.map((document) => [document._id, document]))
  }

  async function judgeNow({ read, devices, publish }: FactsBatch): Promise<DeviceFact[]> {
    const decided: DeviceFact[] = []
    let left = devices
    // Of those that others have changed meanwhile, at least one is written in each round, here or there.
    while (left.length > 0) {
      const before = await found(left)
      const revision = randomUUID()
      const changes = left.flatMap((device) => {
        const own = before.get(deviceKey(device))
        const partition = read?.partition ?? own?.partition ?? 0
        return changeOf(device, own, { partition, revision }) ?? []
      })
      const written = await write(changes, revision)
      await complete(written, publish)
      decided.push(...written.flatMap(({ facts }) => facts))
      const unwritten = new Set(changes.filter((change) => !written.includes(change)))
      left = left.filter((device) =>
        [...unwritten].some(({ document }) => document._id === deviceKey(device)),
      )
    }
    return decided
  }

  async function found(devices: readonly JudgeDevice[]) {
    const documents = await states.find({ _id: { $in: devices.map(deviceKey) } }, READ).toArray()
    return new Map(documents.map((document) => [document._id, document]))
  }

  /** Those that were written: nobody else had changed the state meanwhile. */
  async function write(changes: readonly Change[], revision: string): Promise<readonly Change[]> {
    if (changes.length === 0) return []
    const writes = changes.map(({ document, from }): AnyBulkWriteOperation<StateDocument> =>
      from === undefined
        ? { insertOne: { document } }
        : { replaceOne: { filter: { _id: document._id, revision: from }, replacement: document } },
    )
    try {
      const { insertedCount, modifiedCount } = await states.bulkWrite(writes, { ordered: false })
      if (insertedCount + modifiedCount === changes.length) return changes
    } catch (error) {
      if (duplicatesOf(error) === undefined) throw error
    }
    const ids = changes.map(({ document }) => document._id)
    const own = await states
      .find({ _id: { $in: ids }, revision }, READ)
      .project<Pick<StateDocument, '_id'>>({ _id: 1 })
      .toArray()
    const written = new Set(own.map(({ _id }) => _id))
    return changes.filter(({ document }) => written.has(document._id))
  }

  async function complete(
    changes: readonly Change[],
    publish: FactsBatch['publish'],
  ): Promise<void> {
    const withFacts = changes.filter(({ facts }) => facts.length > 0)
    if (withFacts.length === 0) return
    await insertNew(
      facts,
      withFacts.flatMap(({ life, facts }) => facts.map((fact) => factDocument(fact, life))),
    )
    await publish?.(withFacts.flatMap(({ facts }) => facts))
    const { modifiedCount } = await states.bulkWrite(
      withFacts.map(({ document: { _id, revision }, due }) => ({
        updateOne: { filter: { _id, revision }, update: { $set: { due }, $unset: { outbox: 1 } } },
      })),
      { ordered: false },
    )
    if (modifiedCount === withFacts.length) return
    // Another process has taken the outbox over, unless the device was erased.
    for (const { document, life } of withFacts) {
      const now = await states.findOne({ _id: document._id }, READ)
      if (now !== null && lifeIn(stateIn(now)) !== life) await removeOtherLives(now)
    }
  }

  async function removeOtherLives(document: StateDocument): Promise<void> {
    const { accountId, deviceId } = document
    await facts.deleteMany({ accountId, deviceId, life: { $ne: lifeIn(stateIn(document)) } })
  }

  async function moveProgress({ partition, lastOffset, lastEvent }: EntriesRead): Promise<void> {
    const content = { upTo: lastOffset, ...lastEvent }
    const filter = { _id: partition, upTo: { $lt: lastOffset } }
    const { matchedCount } = await progress.updateOne(filter, { $set: content })
    if (matchedCount === 0) await insertNew(progress, [{ _id: partition, ...content }])
  }

  return {
    async factsProgress() {
      const found = await offsets()
      if (!found.has(BEGUN)) return undefined
      const places = [...found.values()].filter(({ _id }) => _id !== BEGUN)
      return Object.fromEntries(places.map(({ _id, upTo }) => [_id, upTo]))
    },

    async lastJudged() {
      const events = [...(await offsets()).values()].flatMap(({ _id, offset, id }) =>
        offset === undefined || id === undefined ? [] : [[_id, { offset, id }] as const],
      )
      return Object.fromEntries(events)
    },

    async seedFacts(seeds) {
      const revision = randomUUID()
      await insertNew(
        states,
        seeds.map((seed) => stateDocument(seed, seed.state, { ...seed, revision })),
      )
    },

    async beginFacts(places) {
      if ((await offsets()).has(BEGUN)) return
      const documents = Object.entries(places).map(([_id, upTo]) => ({ _id: Number(_id), upTo }))
      await insertNew(progress, documents)
      await insertNew(progress, [{ _id: BEGUN, upTo: -1 }])
    },

    async judgeFacts(batch) {
      if (batch.read === undefined) return judgeNow(batch)
      const { partition, after = -1, lastOffset } = batch.read
      const done = (await progress.findOne({ _id: partition }, READ))?.upTo ?? -1
      if (done < after) throw new WentBackError(partition, { from: after, to: done })
      if (lastOffset <= done) return []
      const decided = await judgeNow(batch)
      await moveProgress(batch.read)
      return decided
    },

    async eraseFacts(erasure) {
      const _id = deviceKey(erasure.event)
      for (;;) {
        const before = await states.findOne({ _id }, READ)
        const state = erasedState(before === null ? undefined : stateIn(before), erasure)
        // An earlier attempt may have ended before it removed the facts.
        if (state === undefined) return before === null ? undefined : removeOtherLives(before)
        const place = { partition: erasure.origin.partition, revision: randomUUID() }
        const document = stateDocument(erasure.event, state, place)
        const change = { document, from: before?.revision, due: state.due, facts: [], life: '' }
        if ((await write([change], place.revision)).length === 1) return removeOtherLives(document)
      }
    },

    dueDevices: ({ now, limit, partition }) =>
      states
        .find({ partition, due: { $gte: 0, $lte: now } }, READ)
        .sort({ due: 1 })
        .limit(limit)
        .project<Pick<StateDocument, 'accountId' | 'deviceId'>>({
          _id: 0,
          accountId: 1,
          deviceId: 1,
        })
        .toArray(),

    async pageFacts(query) {
      const hidden = await hiddenDevices(query.accountId)
      const page = await facts
        .find(filtering(query, hidden), READ)
        .sort({ at: -1, _id: -1 })
        .limit(query.limit)
        .toArray()
      return page.map(({ fact }) => JSON.parse(fact) as DeviceFact)
    },

    async heldFacts({ accountId, facts: asked }) {
      const hidden = new Set(await hiddenDevices(accountId))
      const shown = asked.flatMap(({ id, deviceId }) => (hidden.has(deviceId) ? [] : [id]))
      const _id = { $in: shown.map((id) => `${accountId}/${id}`) }
      const found = await facts.find({ _id }, READ).project<{ _id: string }>({ _id: 1 }).toArray()
      return new Set(found.map(({ _id }) => _id.slice(accountId.length + 1)))
    },

    async expireFacts(before) {
      await facts.deleteMany({ decidedAt: { $lt: new Date(before) } })
      await states.deleteMany({ seenAt: { $lt: new Date(before) } })
    },

    // The condition on the account lets the indexes serve, which begin with it.
    async watchSettings({ labels }) {
      const accountId = { $gt: '' }
      const read = (filter: Filter<DeviceSettingsDocument>) =>
        deviceSettings
          .find({ accountId, ...filter }, READ)
          .project<WatchSettings>({
            _id: 0,
            accountId: 1,
            deviceId: 1,
            disabled: 1,
            expectedIntervalSeconds: 1,
          })
          .toArray()
      const disabled = await read({ disabled: true })
      const watched = [...disabled, ...(await read({ expectedIntervalSeconds: { $exists: true } }))]
      if (!labels) return watched
      const documents = await deviceSettings
        .find({ accountId, labels: { $exists: true } }, READ)
        .toArray()
      const known = documents.map((document): WatchSettings => {
        const { disabled, expectedIntervalSeconds, labels = [], changedAt } = document
        return {
          accountId: document.accountId,
          deviceId: document.deviceId,
          disabled,
          ...(expectedIntervalSeconds !== undefined && { expectedIntervalSeconds }),
          labels,
          changedAt: changedAt?.getTime() ?? 0,
        }
      })
      const ids = new Set(known.map(deviceKey))
      return [...watched.filter((device) => !ids.has(deviceKey(device))), ...known]
    },

    async judgedDevices({ accountId, after, limit }) {
      const range = ofAccount(accountId)
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
          const { definitions } = stateIn(document)
          return definitions === undefined ? [] : [[document.deviceId, definitions] as const]
        }),
      )
    },

    async devicesWith({ accountId, definitionId, revision }) {
      const hidden = new Set(await hiddenDevices(accountId))
      // The text of a state is searched before it is parsed: most devices are elsewhere.
      const named = { $regex: definitionId.replace(/[^A-Za-z0-9_-]/g, String.raw`\$&`) }
      const documents = await states
        .find({ _id: ofAccount(accountId), state: named }, READ)
        .sort({ _id: 1 })
        .toArray()
      return documents.flatMap((document) => {
        const { definitions } = stateIn(document)
        const since = definitions && standingSince(definitions, definitionId, revision)
        const { deviceId } = document
        return since === undefined || hidden.has(deviceId) ? [] : [{ deviceId, since }]
      })
    },
  }
}

/** The keys of an account's devices: account ids have no slash, and a 0 follows it. */
function ofAccount(accountId: string) {
  return { $gte: `${accountId}/`, $lt: `${accountId}0` }
}

/** A state to write, with the facts that must be inserted and published after it. */
type Change = {
  readonly document: StateDocument
  /** The revision that it replaces; undefined: there was none. */
  readonly from: string | undefined
  /** When it is due once its outbox is empty. */
  readonly due: number | null
  readonly facts: readonly DeviceFact[]
  readonly life: string
}

/** Undefined if nothing changes and nothing is left to complete. */
function changeOf(
  device: JudgeDevice,
  before: StateDocument | undefined,
  place: { readonly partition: number; readonly revision: string },
): Change | undefined {
  const state = before && stateIn(before)
  const judged = device.judge(state)
  const left = before?.outbox?.map((fact) => JSON.parse(fact) as DeviceFact) ?? []
  const next = judged?.state ?? state
  if (next === undefined || (judged === undefined && left.length === 0)) return undefined
  const facts = [...left, ...(judged?.facts ?? [])]
  const document = stateDocument(device, next, place)
  const outbox = facts.map((fact) => JSON.stringify(fact))
  return {
    document: facts.length === 0 ? document : { ...document, due: 0, outbox },
    from: before?.revision,
    due: next.due,
    facts,
    life: lifeIn(next),
  }
}

function stateDocument(
  { accountId, deviceId }: { readonly accountId: string; readonly deviceId: string },
  state: FactState,
  { partition, revision }: { readonly partition: number; readonly revision: string },
): StateDocument {
  return {
    _id: deviceKey({ accountId, deviceId }),
    accountId,
    deviceId,
    partition,
    due: state.due,
    seenAt: new Date(stateSeenAt(state)),
    state: JSON.stringify(state),
    revision,
  }
}

function factDocument(fact: DeviceFact, life: string): FactDocument {
  const { id, accountId, deviceId, type, at, decidedAt } = fact
  const definitionId = definitionIdOf(fact)
  return {
    _id: `${accountId}/${id}`,
    accountId,
    deviceId,
    type,
    ...(definitionId !== undefined && { definitionId }),
    at,
    decidedAt: new Date(decidedAt),
    life,
    fact: JSON.stringify(fact),
  }
}

function stateIn({ state }: StateDocument): FactState {
  return JSON.parse(state) as FactState
}

function lifeIn({ erased }: FactState): string {
  return erased?.ids.at(-1) ?? ''
}

/** Inserts the documents whose `_id` is not taken. */
async function insertNew<D extends { readonly _id: string | number }>(
  collection: Collection<D>,
  documents: readonly D[],
): Promise<void> {
  if (documents.length === 0) return
  try {
    await collection.insertMany(documents as never, { ordered: false })
  } catch (error) {
    if (duplicatesOf(error) === undefined && !isDuplicateKey(error)) throw error
  }
}

function filtering(query: FactsQuery, hidden: readonly string[]): Filter<FactDocument> {
  const { accountId, devices, deviceId, type, definitionId, from, to, after } = query
  const conditions: Filter<FactDocument>[] = [{ accountId }]
  if (deviceId !== undefined) conditions.push({ deviceId })
  if (type !== undefined) conditions.push({ type })
  if (definitionId !== undefined) conditions.push({ definitionId })
  if (from !== undefined) conditions.push({ at: { $gte: from } })
  if (to !== undefined) conditions.push({ at: { $lt: to } })
  if (after !== undefined) {
    const { at } = after
    conditions.push({
      $or: [{ at: { $lt: at } }, { at, _id: { $lt: `${accountId}/${after.id}` } }],
    })
  }
  for (const filter of listed(devices)) conditions.push(filter as Filter<FactDocument>)
  if (hidden.length > 0) conditions.push({ deviceId: { $nin: [...hidden] } })
  return { $and: conditions }
}
