import type { AnyBulkWriteOperation } from 'mongodb'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import type { JudgeDevice } from '../facts.ts'
import { READ } from './collections.ts'
import { isRefusedByDriver, refusalsOf } from './driver-errors.ts'
import {
  stateDocument,
  toFactState,
  type FactCollections,
  type StateDocument,
} from './fact-documents.ts'
import { readOutbox, writeOutbox, type StateWithFacts } from './outbox.ts'

export type KnownState = Pick<StateDocument, 'partition' | 'revision'> & {
  readonly state: FactState
  readonly outbox: readonly DeviceFact[]
  readonly isCleanUp: boolean
  /** The state from memory; another process may have changed it since. */
  readonly isRemembered: boolean
  /** The length of the state as JSON. */
  readonly bytes: number
}

export function knownState(document: StateDocument): KnownState {
  const { partition, revision, outbox = [], cleanUp } = document
  return {
    state: toFactState(document),
    partition,
    revision,
    outbox: readOutbox(outbox),
    isCleanUp: cleanUp === true,
    isRemembered: false,
    bytes: document.state.length,
  }
}

/** A state to write, with its facts. */
export type FactChange = StateWithFacts & {
  /** The revision to replace; undefined for a new state. */
  readonly from: string | undefined
  /** Facts from before the erasure must be removed first. */
  readonly isCleanUp: boolean
  /** The judging stopped early. */
  readonly isPartial: boolean
  /** The length of the state and its facts as JSON. */
  readonly bytes: number
}

/**
 * Otherwise another process would publish its facts once more while the process that decided them
 * is about to.
 */
const TAKEN_OVER_AFTER_MS = 10_000

/** Undefined if nothing changes and nothing remains to be completed. */
export function changeOf(
  device: JudgeDevice,
  before: KnownState | undefined,
  {
    now,
    ...place
  }: { readonly partition: number; readonly revision: string; readonly now: number },
): FactChange | undefined {
  const judged = device.judge(before?.state)
  const { outbox = [], isCleanUp = false } = before ?? {}
  const state = judged?.state ?? before?.state
  if (state === undefined) return undefined
  if (judged === undefined && outbox.length === 0 && !isCleanUp) return undefined
  const facts = [...outbox, ...(judged?.facts ?? [])]
  const document = stateDocument(device, state, place)
  const waiting = writeOutbox(facts)
  const takenOverFrom = now + TAKEN_OVER_AFTER_MS
  return {
    document:
      facts.length === 0 ? document : { ...document, due: 0, outbox: waiting, takenOverFrom },
    state,
    from: before?.revision,
    facts,
    isCleanUp,
    isPartial: judged?.isPartial === true,
    bytes: waiting.reduce((sum, { length }) => sum + length, document.state.length),
  }
}

type Written = {
  readonly written: readonly FactChange[]
  readonly refused: readonly { readonly change: FactChange; readonly error: unknown }[]
}

/**
 * Returns the changes that were written, and those that can never be written. The rest failed
 * because another process has changed the state.
 */
export async function writeChanges(
  states: FactCollections['states'],
  changes: readonly FactChange[],
  revision: string,
): Promise<Written> {
  const writes = changes.map(({ document, from }): AnyBulkWriteOperation<StateDocument> =>
    from === undefined
      ? { insertOne: { document } }
      : { replaceOne: { filter: { _id: document._id, revision: from }, replacement: document } },
  )
  let refusals: ReadonlyMap<number, unknown> = new Map()
  try {
    const { insertedCount, modifiedCount } = await states.bulkWrite(writes, { ordered: false })
    if (insertedCount + modifiedCount === changes.length) return { written: changes, refused: [] }
  } catch (error) {
    if (isRefusedByDriver(error)) return writeSingly(states, changes, revision, error)
    const refused = refusalsOf(error)
    if (refused === undefined) throw error
    refusals = refused
  }
  const ids = changes.map(({ document }) => document._id)
  const own = await states
    .find({ _id: { $in: ids }, revision }, READ)
    .project<Pick<StateDocument, '_id'>>({ _id: 1 })
    .toArray()
  const written = new Set(own.map(({ _id }) => _id))
  return {
    written: changes.filter(({ document }) => written.has(document._id)),
    refused: changes.flatMap((change, index) =>
      refusals.has(index) ? [{ change, error: refusals.get(index) }] : [],
    ),
  }
}

/** The driver sends no part of a bulk if it rejects one of the writes. */
async function writeSingly(
  states: FactCollections['states'],
  changes: readonly FactChange[],
  revision: string,
  error: unknown,
): Promise<Written> {
  const [change] = changes
  if (change !== undefined && changes.length === 1) {
    return { written: [], refused: [{ change, error }] }
  }
  const all = { written: [] as FactChange[], refused: [] as Written['refused'][number][] }
  for (const one of changes) {
    const { written, refused } = await writeChanges(states, [one], revision)
    all.written.push(...written)
    all.refused.push(...refused)
  }
  return all
}
