import type { FactState } from '../../schemas/facts/fact-state.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import type { JudgeDevice } from '../facts.ts'
import { readOutbox, writeOutbox } from './outbox.ts'
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
