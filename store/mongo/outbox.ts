import { isDeepStrictEqual } from 'node:util'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import type { FactsBatch } from '../facts.ts'
import { READ } from './collections.ts'
import {
  factDocument,
  insertNew,
  type FactCollections,
  type FactDocument,
  type StateDocument,
} from './fact-documents.ts'

/** Size of states and facts as JSON that are written together; more only for a single device. */
export const WRITTEN_AT_ONCE_BYTES = 2 ** 20

/** A state written together with its facts, which must be inserted and published afterwards. */
export type StateWithFacts = {
  readonly document: StateDocument
  readonly state: FactState
  readonly facts: readonly DeviceFact[]
}

/**
 * Completes outboxes: inserts their facts by id, publishes them, and clears them. Each step can be
 * repeated, so another process may do the same at the same time.
 */
export function outboxes({ states, facts }: Pick<FactCollections, 'states' | 'facts'>) {
  async function complete(
    changes: readonly StateWithFacts[],
    publish: FactsBatch['publish'],
  ): Promise<void> {
    const withFacts = changes.filter(({ facts }) => facts.length > 0)
    if (withFacts.length === 0) return
    await insertFacts(withFacts)
    await publish?.(withFacts.flatMap(({ facts }) => facts))
    const { modifiedCount } = await states.bulkWrite(
      withFacts.map(({ document: { _id, revision }, state: { due } }) => ({
        updateOne: {
          filter: { _id, revision },
          update: { $set: { due }, $unset: { outbox: 1, takenOverFrom: 1 } },
        },
      })),
      { ordered: false },
    )
    if (modifiedCount === withFacts.length) return
    // Another process has taken over the outbox, unless the device was erased.
    for (const { document } of withFacts) {
      const now = await states.findOne({ _id: document._id }, READ)
      if (now !== null && now.life !== document.life) await removeOtherLives(now)
    }
  }

  /** Events in full are many times as long as in an outbox. */
  async function insertFacts(changes: readonly StateWithFacts[]): Promise<void> {
    let piece: FactDocument[] = []
    let bytes = 0
    for (const { document, facts: own } of changes) {
      for (const fact of own) {
        const whole = factDocument(fact, document.life)
        piece.push(whole)
        bytes += whole.fact.length
        if (bytes <= WRITTEN_AT_ONCE_BYTES) continue
        await insertNew(facts, piece)
        piece = []
        bytes = 0
      }
    }
    await insertNew(facts, piece)
  }

  async function removeOtherLives({ accountId, deviceId, life }: StateDocument): Promise<void> {
    await facts.deleteMany({ accountId, deviceId, life: { $ne: life } })
  }

  return { complete, removeOtherLives }
}

/**
 * Not valid at the start of JSON: version 0.3.0, which must not read such a fact as a complete one,
 * fails and retries.
 */
const LIKE_THE_ONE_BEFORE = '+'

/**
 * The facts of an outbox as texts. One input may cause hundreds of facts: only the first
 * contains what they share, the position and the geofences that the device is in.
 */
export function writeOutbox(facts: readonly DeviceFact[]): string[] {
  return facts.map((fact, index) => {
    const before = facts[index - 1]
    if (before === undefined || !hasSameSurroundings(fact, before)) return JSON.stringify(fact)
    return LIKE_THE_ONE_BEFORE + JSON.stringify({ ...fact, position: undefined, inside: undefined })
  })
}

/** Outboxes of version 0.3.0 contain complete facts. */
export function readOutbox(texts: readonly string[]): DeviceFact[] {
  const facts: DeviceFact[] = []
  for (const text of texts) {
    const before = facts.at(-1)
    if (!text.startsWith(LIKE_THE_ONE_BEFORE)) facts.push(JSON.parse(text) as DeviceFact)
    else if (before !== undefined) {
      const { position, inside } = before
      const own = JSON.parse(text.slice(LIKE_THE_ONE_BEFORE.length)) as DeviceFact
      facts.push({ ...own, ...(position !== undefined && { position }), inside })
    }
  }
  return facts
}

function hasSameSurroundings(fact: DeviceFact, before: DeviceFact): boolean {
  if (fact.inside.length !== before.inside.length) return false
  if (fact.position?.recordId !== before.position?.recordId) return false
  return (
    fact.inside.every((id, index) => before.inside[index] === id) &&
    (fact.position === before.position || isDeepStrictEqual(fact.position, before.position))
  )
}
