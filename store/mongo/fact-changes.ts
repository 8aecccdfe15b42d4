import { isDeepStrictEqual } from 'node:util'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import type { JudgeDevice } from '../facts.ts'
import { stateDocument, stateIn, type StateDocument } from './fact-documents.ts'

export type KnownState = Pick<StateDocument, 'partition' | 'revision'> & {
  readonly state: FactState
  readonly outbox: readonly DeviceFact[]
  readonly isCleanUp: boolean
  /** From memory: another process may have changed it since. */
  readonly isRemembered: boolean
  /** The length of the state as JSON. */
  readonly bytes: number
}

export function knownState(document: StateDocument): KnownState {
  const { partition, revision, outbox = [], cleanUp } = document
  return {
    state: stateIn(document),
    partition,
    revision,
    outbox: readOutbox(outbox),
    isCleanUp: cleanUp === true,
    isRemembered: false,
    bytes: document.state.length,
  }
}

/** A state to write, with the facts that must be inserted and published after it. */
export type FactChange = {
  readonly document: StateDocument
  readonly state: FactState
  /** The revision that it replaces; undefined: there was none. */
  readonly from: string | undefined
  readonly facts: readonly DeviceFact[]
  /** Facts from before the erasure must be removed first. */
  readonly isCleanUp: boolean
  /** The judging stopped early. */
  readonly isPartial: boolean
  /** The length of the state and its facts as JSON. */
  readonly bytes: number
}

/** Others would publish its facts once more while the process that decided them is about to. */
const TAKEN_OVER_AFTER_MS = 10_000

/** Undefined if nothing changes and nothing is left to complete. */
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

/** No JSON begins like this: version 0.3.0, which must not take such a fact for a whole one, fails and tries again. */
const LIKE_THE_ONE_BEFORE = '+'

/**
 * The facts of an outbox as texts. One input may cause hundreds of facts: what they have in common, its position and
 * the geofences that the device is in, is only in the first of them.
 */
export function writeOutbox(facts: readonly DeviceFact[]): string[] {
  return facts.map((fact, index) => {
    const before = facts[index - 1]
    if (before === undefined || !hasSameSurroundings(fact, before)) return JSON.stringify(fact)
    return LIKE_THE_ONE_BEFORE + JSON.stringify({ ...fact, position: undefined, inside: undefined })
  })
}

/** Outboxes of version 0.3.0 hold whole facts. */
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
