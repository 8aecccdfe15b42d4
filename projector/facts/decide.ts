import type { DefinitionsState } from '../../schemas/definitions/definitions-state.ts'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import { judgeAlarms } from './alarms.ts'
import {
  pickEarlier,
  keepState,
  type Decider,
  type Decision,
  type DeviceDefinitions,
  type FactInput,
  type Judged,
} from './decider.ts'
import { listInsideAfterEach, listInside, judgeGeofences } from './geofences.ts'
import { judgeRules, dropOtherRules } from './judge-rules.ts'
import { endSilences, judgeLiveness, judgeSilences, nextSilence } from './silence.ts'
import { dropOtherGeofences } from './sides.ts'
import { endWaits, nextEnd } from './waits.ts'

/** In the order of their facts. Geofences are judged before rules, which may be about geofences. */
const DECIDERS: readonly Decider[] = [
  judgeAlarms,
  dropOthers,
  endSilences,
  endWaits,
  judgeGeofences,
  judgeRules,
  judgeSilences,
  judgeLiveness,
]

export type Decided = {
  readonly state: FactState
  readonly decisions: readonly {
    readonly decision: Decision
    /** The geofences that the device is in after the input. */
    readonly inside: readonly string[]
  }[]
}

/**
 * Decides from a device's state and an input: returns the next state, including `due`, and the new
 * facts. Pure.
 */
export function decide(before: FactState, input: FactInput, by: DeviceDefinitions): Decided {
  let state = before
  const decisions: Decision[] = []
  for (const decider of DECIDERS) {
    const judged = decider(state, input, by)
    state = judged.state
    if (judged.decisions.length > 0) decisions.push(...judged.decisions)
  }
  const due = nextDue(state, input, by)
  if (due !== state.due) state = { ...state, due }
  return { state, decisions: addInside(decisions, { before, after: state }) }
}

function nextDue(state: FactState, input: FactInput, by: DeviceDefinitions): number | null {
  const { definitions, liveness } = state
  const end = definitions === undefined ? null : nextEnd(definitions, by)
  return pickEarlier(pickEarlier(end, nextSilence(state, input, by)), liveness?.due ?? null)
}

const NEW: DefinitionsState = { geofences: { standings: {} }, rules: { standings: {} } }

/**
 * Drops the standings of definitions that no longer apply. Before its first position a device has
 * none.
 */
function dropOthers(state: FactState, input: FactInput, by: DeviceDefinitions): Judged {
  if (state.definitions === undefined) {
    const isFirst = input.kind === 'position' && !input.isRepeat
    return keepState(isFirst ? { ...state, definitions: NEW } : state)
  }
  const { geofences, rules } = state.definitions
  const definitions = {
    geofences: dropOtherGeofences(geofences, by.geofences),
    rules: dropOtherRules(rules, by.rules),
  }
  const isSame = definitions.geofences === geofences && definitions.rules === rules
  return keepState(isSame ? state : { ...state, definitions })
}

/** Alarms are decided first: the device is still where it was. */
function addInside(
  decisions: readonly Decision[],
  { before, after }: { readonly before: FactState; readonly after: FactState },
): Decided['decisions'] {
  if (decisions.length === 0) return []
  const insides = after.definitions
    ? listInsideAfterEach(after.definitions.geofences, decisions)
    : []
  const insideBefore = before.definitions ? listInside(before.definitions.geofences) : []
  return decisions.map((decision, n) => ({
    decision,
    inside: decision.type === 'alarm.reported' ? insideBefore : (insides[n] ?? []),
  }))
}
