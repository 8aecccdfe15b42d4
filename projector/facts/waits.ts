import type { DefinitionsState } from '../../schemas/definitions/definitions-state.ts'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import { trueAt } from '../../schemas/geo/position-order.ts'
import {
  isMove,
  keepState,
  type Decision,
  type DeviceDefinitions,
  type FactInput,
  type Judged,
  type Wait,
} from './decider.ts'
import { endGeofenceWait, geofenceWaits } from './geofences.ts'
import { endAtStop, endRuleWait, nextStop, ruleWaits } from './judge-rules.ts'
import { judgeConditions, rulesInForce } from './rules.ts'
import { viewStop } from './stops.ts'

/**
 * The clock by which a wait ends: the timestamps of positions, or the receipt of the first of them.
 */
type WaitClock = 'at' | 'receivedAt'

/**
 * Ends the waits that are over, earliest first: a rule on a geofence starts with the wait that ends
 * there.
 */
export function endWaits(state: FactState, input: FactInput, by: DeviceDefinitions): Judged {
  if (state.definitions === undefined) return keepState(state)
  if (input.kind === 'time') return endUntil(state, input.at, { clock: 'receivedAt', by })
  if (!isMove(input)) return keepState(state)
  const { position, receivedAt } = input
  const rules = rulesInForce(receivedAt, by)
  const received = { clock: 'at', receivedAt, by: { ...by, rules } } as const
  return endUntil(state, trueAt(position), received)
}

/** When the next wait is over if nothing arrives. */
export function nextEnd(state: DefinitionsState, by: DeviceDefinitions): number | null {
  return firstOf(state, { clock: 'receivedAt', by })?.end ?? null
}

type Ending = {
  readonly clock: WaitClock
  /** When the input that ends them was received, if an input does. */
  readonly receivedAt?: number
  readonly by: DeviceDefinitions
}

function endUntil(before: FactState, until: number, ending: Ending): Judged {
  let { definitions } = before
  const decisions: Decision[] = []
  while (definitions !== undefined) {
    const next = firstOf(definitions, ending)
    if (next === undefined || next.end > until) break
    const ended = end(definitions, next, ending.by)
    definitions = ended.state
    decisions.push(...ended.decisions)
  }
  if (definitions === before.definitions || definitions === undefined) return keepState(before)
  return { state: { ...before, definitions }, decisions }
}

function end(
  { geofences, rules }: DefinitionsState,
  wait: Ended,
  by: DeviceDefinitions,
): Judged<DefinitionsState> {
  if (wait.of === 'stop') {
    const { state, decisions } = endAtStop({ geofences, rules }, wait.end, by)
    return { state: { geofences, rules: state }, decisions }
  }
  if (wait.of === 'rule') {
    const { state, decisions } = endRuleWait(rules, wait, by.rules)
    return { state: { geofences, rules: state }, decisions }
  }
  const left = endGeofenceWait(geofences, wait, by.geofences)
  const stop = viewStop(rules.stop)
  const moment = { start: wait.start, fields: {}, ...(stop && { stop }) }
  const ruled = judgeConditions({ geofences: left.state, rules }, moment, by)
  return {
    state: { geofences: left.state, rules: ruled.state },
    decisions: [...left.decisions, ...ruled.decisions],
  }
}

/** A wait, or the detection of a stop because nothing more arrives; and when it ends. */
type Ended = (Wait | { readonly of: 'stop' }) & { readonly end: number }

/** The wait that ends first. If several end together: geofences, rules, then a stop; by id. */
function firstOf(
  { geofences, rules }: DefinitionsState,
  { clock, receivedAt = Infinity, by }: Ending,
): Ended | undefined {
  let first: (Wait & { readonly end: number }) | undefined
  const take = (wait: Wait) => {
    const end = wait.start[clock] + wait.seconds * 1_000
    const isFirst =
      first === undefined ||
      end < first.end ||
      (end === first.end && wait.of === first.of && wait.id < first.id)
    if (isFirst) first = { ...wait, end }
  }
  for (const wait of geofenceWaits(geofences, by.geofences, receivedAt)) take(wait)
  for (const wait of ruleWaits(rules, by.rules)) take(wait)
  const stop = clock === 'receivedAt' ? nextStop(rules, by) : null
  return stop !== null && stop < (first?.end ?? Infinity) ? { of: 'stop', end: stop } : first
}
