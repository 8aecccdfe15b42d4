import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { turnTaker } from '../../runtime/end-of-turn.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import {
  eraseState,
  type EntriesRead,
  type FactStore,
  type FactsBatch,
  type FailedDevice,
  type JudgeDevice,
  type JudgedFacts,
} from '../facts.ts'
import { WentBackError } from '../projection-batch.ts'
import { READ } from './collections.ts'
import {
  changeOf,
  knownState,
  writeChanges,
  type FactChange,
  type KnownState,
} from './fact-changes.ts'
import {
  BEGUN,
  insertNew,
  stateDocument,
  toFactState,
  type FactCollections,
  type FactProgressDocument,
  type StateDocument,
} from './fact-documents.ts'
import { outboxes, WRITTEN_AT_ONCE_BYTES } from './outbox.ts'

export type FactWrites = Pick<
  FactStore,
  | 'factsProgress'
  | 'lastJudged'
  | 'seedFacts'
  | 'beginFacts'
  | 'judgeFacts'
  | 'eraseFacts'
  | 'dueDevices'
  | 'expireFacts'
>

/** Size of states as JSON; in memory they take two to four times as much. */
const REMEMBERED_BYTES = 32 * 2 ** 20
/** Number of states read together. */
const READ_AT_ONCE = 250
/**
 * Long enough for a process that decided facts before an erasure to have inserted them, almost
 * certainly.
 */
const CLEANED_UP_AFTER_MS = 60_000

/**
 * Works on a standalone server: a device's state is written by compare-and-set together with its
 * new facts (`outbox`), then the facts are inserted by id and published, and last the outbox is
 * cleared. Each step can be repeated, so a crash in between neither loses nor duplicates a fact.
 */
export function factWrites({
  collections: { states, facts, progress },
  clock,
}: {
  collections: FactCollections
  clock: { now(): number }
}): FactWrites {
  const { complete, removeOtherLives } = outboxes({ states, facts })
  /**
   * The last states that this process wrote. Another process may have changed one since. A write
   * detects that; a state that would not change is read again.
   */
  const remembered = new LRUCache<string, KnownState>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: ({ bytes }) => Math.max(bytes, LEAST_BYTES),
  })

  async function offsets(): Promise<ReadonlyMap<number, FactProgressDocument>> {
    const found = await progress.find({}, READ).toArray()
    return new Map(found.map((document) => [document._id, document]))
  }

  async function judgeNow({ devices, ...batch }: FactsBatch): Promise<JudgedFacts> {
    const outcome: Outcome = { facts: [], failed: [] }
    for (let at = 0; at < devices.length; at += READ_AT_ONCE) {
      await judgeSome(devices.slice(at, at + READ_AT_ONCE), batch, outcome)
    }
    return outcome
  }

  async function judgeSome(
    devices: readonly JudgeDevice[],
    { read, publish }: Omit<FactsBatch, 'devices'>,
    outcome: Outcome,
  ): Promise<void> {
    const othersTurn = turnTaker()
    let left = devices
    // Each further round reads states that were cached, writes at least one state that others have
    // changed since, in the cache or the store, or continues a judging that stopped early.
    while (left.length > 0) {
      const before = await readStates(left)
      const revision = randomUUID()
      const done = new Set<string>()
      let changes: FactChange[] = []
      let bytes = 0
      const writeDecided = async () => {
        for (const key of await writeWhole({ changes, revision, publish }, outcome)) done.add(key)
        changes = []
        bytes = 0
      }
      for (const device of left) {
        const key = deviceKey(device)
        const own = before.get(key)
        const partition = read?.partition ?? own?.partition ?? 0
        const change = changeOf(device, own, { partition, revision, now: clock.now() })
        if (change !== undefined) {
          changes.push(change)
          bytes += change.bytes
          if (bytes > WRITTEN_AT_ONCE_BYTES) await writeDecided()
        } else if (own?.isRemembered !== true) done.add(key)
        await othersTurn()
      }
      await writeDecided()
      left = left.filter((device) => !done.has(deviceKey(device)))
    }
  }

  /** Writes and completes changes. Returns the keys of the devices that are finished. */
  async function writeWhole(
    {
      changes,
      revision,
      publish,
    }: {
      changes: readonly FactChange[]
      revision: string
      publish: FactsBatch['publish']
    },
    outcome: Outcome,
  ): Promise<string[]> {
    if (changes.length === 0) return []
    for (const { document, isCleanUp } of changes) {
      if (isCleanUp) await removeOtherLives(document)
    }
    const { written, refused } = await writeChanges(states, changes, revision)
    await complete(written, publish)
    for (const { document, state } of written) {
      const { _id, partition } = document
      const known = { state, partition, revision, outbox: [], isCleanUp: false }
      remembered.set(_id, { ...known, isRemembered: true, bytes: document.state.length })
    }
    for (const { facts } of written) for (const fact of facts) outcome.facts.push(fact)
    for (const { change, error } of refused) {
      const { accountId, deviceId } = change.document
      outcome.failed.push({ accountId, deviceId, error })
    }
    const ended = [
      ...written.filter(({ isPartial }) => !isPartial),
      ...refused.map(({ change }) => change),
    ]
    return ended.map(({ document }) => document._id)
  }

  /** Cached only once written, so a failed write is read again. */
  async function readStates(
    devices: readonly JudgeDevice[],
  ): Promise<ReadonlyMap<string, KnownState>> {
    const known = new Map<string, KnownState>()
    const unknown: string[] = []
    for (const device of devices) {
      const key = deviceKey(device)
      const own = remembered.get(key)
      if (own === undefined) unknown.push(key)
      else known.set(key, own)
      remembered.delete(key)
    }
    if (unknown.length === 0) return known
    const documents = await states.find({ _id: { $in: unknown } }, READ).toArray()
    for (const document of documents) known.set(document._id, knownState(document))
    return known
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
      if (lastOffset <= done) return { facts: [], failed: [] }
      const decided = await judgeNow(batch)
      await moveProgress(batch.read)
      return decided
    },

    async eraseFacts(erasure) {
      const _id = deviceKey(erasure.event)
      remembered.delete(_id)
      for (;;) {
        const before = await states.findOne({ _id }, READ)
        const state = eraseState(before === null ? undefined : toFactState(before), erasure)
        // An earlier attempt may have ended before removing the facts.
        if (state === undefined) return before === null ? undefined : removeOtherLives(before)
        const place = { partition: erasure.origin.partition, revision: randomUUID() }
        const document = stateDocument(erasure.event, state, place)
        const change: FactChange = {
          document: { ...document, cleanUp: true, due: clock.now() + CLEANED_UP_AFTER_MS },
          state,
          from: before?.revision,
          facts: [],
          isCleanUp: false,
          isPartial: false,
          bytes: 0,
        }
        const { written } = await writeChanges(states, [change], place.revision)
        if (written.length === 1) return removeOtherLives(document)
      }
    },

    dueDevices: ({ now, limit, partition, skip = 0 }) =>
      states
        .find(
          {
            partition,
            due: { $gte: 0, $lte: now },
            takenOverFrom: { $not: { $gt: clock.now() } },
          },
          READ,
        )
        .sort({ due: 1 })
        .skip(skip)
        .limit(limit)
        .project<Pick<StateDocument, 'accountId' | 'deviceId'>>({
          _id: 0,
          accountId: 1,
          deviceId: 1,
        })
        .toArray(),

    async expireFacts(before) {
      await facts.deleteMany({ decidedAt: { $lt: new Date(before) } })
      await states.deleteMany({ seenAt: { $lt: new Date(before) } })
      remembered.clear()
    },
  }
}

/** A minimum, so that devices with little state do not accumulate in the cache without limit. */
const LEAST_BYTES = 400

type Outcome = { readonly facts: DeviceFact[]; readonly failed: FailedDevice[] }
