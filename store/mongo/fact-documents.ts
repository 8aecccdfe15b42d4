import type { Collection, Db } from 'mongodb'
import { lifeOf, type FactState } from '../../schemas/facts/fact-state.ts'
import { definitionIdOf, type DeviceFact } from '../../schemas/facts/facts.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import { definitionsHolding, findLastSeen } from '../facts.ts'
import { duplicatesOf, isDuplicateKey } from './driver-errors.ts'

/** `_id` is `accountId/deviceId`. As text: alarm names may be invalid as field names. */
export type StateDocument = {
  readonly _id: string
  readonly accountId: string
  readonly deviceId: string
  readonly partition: number
  /** When the device is due; null for never, 0 while there is an outbox. */
  readonly due: number | null
  readonly seenAt: Date
  readonly state: string
  /** The erasure that started the device's life; '' before any. */
  readonly life: string
  /** The geofences that the device is in, and the rules that are raised for it. */
  readonly holding?: readonly string[]
  /** A new value with each change. */
  readonly revision: string
  readonly outbox?: readonly string[]
  /**
   * Before this time, only the process that wrote the outbox completes it; afterwards, any process
   * that reads it does.
   */
  readonly takenOverFrom?: number
  /** Facts from before its erasure may have been inserted after it: they must be removed again. */
  readonly cleanUp?: true
}

export type FactDocument = {
  readonly _id: string
  readonly accountId: string
  readonly deviceId: string
  readonly type: DeviceFact['type']
  /** The geofence or rule that it is about. */
  readonly definitionId?: string
  readonly at: number
  /** Absent if version 0.3.0 inserted it: then it follows the other facts of the same time. */
  readonly sequence?: number
  readonly decidedAt: Date
  /** The life of its device, as in the state. */
  readonly life: string
  readonly fact: string
}

/** `_id` is the partition, or `BEGUN`. */
export type FactProgressDocument = {
  readonly _id: number
  readonly upTo: number
  readonly offset?: number
  readonly id?: string
}

export const BEGUN = -1

export type FactCollections = {
  readonly states: Collection<StateDocument>
  readonly facts: Collection<FactDocument>
  readonly progress: Collection<FactProgressDocument>
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
    {
      name: 'holding',
      key: { accountId: 1, holding: 1, _id: 1 },
      partialFilterExpression: { holding: { $exists: true } },
    },
  ])
  const order = { at: 1, sequence: 1, _id: 1 } as const
  await facts.createIndexes([
    { name: 'newest', key: { accountId: 1, ...order } },
    { name: 'newest_of_type', key: { accountId: 1, type: 1, ...order } },
    { name: 'newest_of_device', key: { accountId: 1, deviceId: 1, ...order } },
    {
      name: 'newest_of_definition',
      key: { accountId: 1, definitionId: 1, ...order },
      partialFilterExpression: { definitionId: { $exists: true } },
    },
    { name: 'decided', key: { decidedAt: 1 } },
  ])
  // Version 0.3.0 listed facts of one time by their ids. Its processes recreate these indexes when
  // they start.
  for (const older of ['account', 'type', 'device', 'definition']) {
    if (await facts.indexExists(older)) await facts.dropIndex(older)
  }
}

/** The range of an account's device keys: account ids contain no slash, and 0 follows the slash. */
export function accountFilter(accountId: string) {
  return { $gte: `${accountId}/`, $lt: `${accountId}0` }
}

export function stateDocument(
  { accountId, deviceId }: { readonly accountId: string; readonly deviceId: string },
  state: FactState,
  { partition, revision }: { readonly partition: number; readonly revision: string },
): StateDocument {
  const holding = definitionsHolding(state)
  return {
    _id: deviceKey({ accountId, deviceId }),
    accountId,
    deviceId,
    partition,
    due: state.due,
    seenAt: new Date(findLastSeen(state)),
    state: JSON.stringify(state),
    life: lifeOf(state),
    ...(holding.length > 0 && { holding }),
    revision,
  }
}

export function factDocument(fact: DeviceFact, life: string): FactDocument {
  const { id, accountId, deviceId, type, at, sequence, decidedAt } = fact
  const definitionId = definitionIdOf(fact)
  return {
    _id: `${accountId}/${id}`,
    accountId,
    deviceId,
    type,
    ...(definitionId !== undefined && { definitionId }),
    at,
    sequence,
    decidedAt: new Date(decidedAt),
    life,
    fact: JSON.stringify(fact),
  }
}

export function toFactState({ state }: Pick<StateDocument, 'state'>): FactState {
  return JSON.parse(state) as FactState
}

/** Inserts the documents whose `_id` is not taken. */
export async function insertNew<D extends { readonly _id: string | number }>(
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
