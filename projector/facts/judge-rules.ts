import type {
  DefinitionsState,
  RulesState,
  StopFix,
} from '../../schemas/definitions/definitions-state.ts'
import type { DeviceRule } from '../../schemas/definitions/device-rule.ts'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import { trueAt } from '../../schemas/geo/position-order.ts'
import type { OptionalFields } from '../../schemas/report/report-fields.ts'
import {
  isMove,
  signOfLife,
  keepState,
  type DeviceDefinitions,
  type FactInput,
  type Judged,
  type PositionInput,
  type Wait,
} from './decider.ts'
import {
  findArrival,
  judgeConditions,
  raiseRule,
  rulesInForce,
  setStanding,
  removeStanding,
} from './rules.ts'
import { continueStop, judgeStop, stopDue, type StopVerdict } from './stops.ts'

/**
 * Drops, without facts, the standings of rules that were deleted, changed, disabled or no longer
 * apply to the device.
 */
export function dropOtherRules(state: RulesState, rules: readonly DeviceRule[]): RulesState {
  const isKept = (id: string) =>
    rules.some((rule) => rule.id === id && rule.revision === state.standings[id]?.revision)
  const gone = Object.keys(state.standings).filter((id) => !isKept(id))
  if (gone.length === 0) return state
  return { ...state, standings: removeStanding(state.standings, ...gone) }
}

export function* ruleWaits(
  { standings }: RulesState,
  rules: readonly DeviceRule[],
): Generator<Wait> {
  for (const { id, forSeconds } of rules) {
    const start = standings[id]?.wait
    if (start !== undefined) yield { of: 'rule', id, start, seconds: forSeconds }
  }
}

/** The condition has held for long enough. */
export function endRuleWait(
  state: RulesState,
  { id, start }: Wait,
  rules: readonly DeviceRule[],
): Judged<RulesState> {
  const rule = rules.find((one) => one.id === id)
  if (rule === undefined) return keepState(state)
  const { decision, standing } = raiseRule(rule, start)
  return { state: setStanding(state, id, standing), decisions: [decision] }
}

/** Judges the conditions of the rules, except silences, by an input. */
export function judgeRules(state: FactState, input: FactInput, by: DeviceDefinitions): Judged {
  if (state.definitions === undefined || input.kind === 'time') return keepState(state)
  if (input.kind === 'position' && input.isLate) return keepState(state)
  const { geofences } = state.definitions
  let { rules } = state.definitions
  const { stop: before, ...withoutStop } = rules
  let start = signOfLife(input)
  let verdict: StopVerdict | undefined
  if (isMove(input)) {
    const { position, receivedAt } = input
    start = { at: trueAt(position), receivedAt, position }
    rules = withoutStop
    if (isAboutStops(by)) verdict = judgeStop(before, stopFix(input), position.speed !== undefined)
  } else if (input.kind === 'position' && before !== undefined) {
    verdict = continueStop(before, input.receivedAt, true)
  }
  const fields = input.kind === 'position' ? input.position : input
  const moment = { start, fields: addSpeed(fields, verdict), ...(verdict && { stop: verdict }) }
  if (verdict !== undefined) rules = { ...rules, stop: verdict.state }
  const judged = judgeConditions({ geofences, rules }, moment, by)
  return {
    state: { ...state, definitions: { geofences, rules: judged.state } },
    decisions: judged.decisions,
  }
}

/**
 * When the device counts as stopped if nothing more arrives from it; `null`: never, or no rule
 * needs it.
 */
export function nextStop({ stop }: RulesState, by: DeviceDefinitions): number | null {
  return stop !== undefined && isAboutStops(by) ? stopDue(stop) : null
}

/** Nothing more arrived until the device counted as stopped. */
export function endAtStop(
  { geofences, rules }: DefinitionsState,
  now: number,
  by: DeviceDefinitions,
): Judged<RulesState> {
  const { stop } = rules
  if (stop === undefined) return keepState(rules)
  const verdict = continueStop(stop, now, false)
  const { last, repeatedAt } = stop
  const start = { at: last.at + now - last.receivedAt, receivedAt: now }
  const applied = rulesInForce(repeatedAt ?? last.receivedAt, by).filter(
    (rule) => findArrival(rule, geofences, by) <= (repeatedAt ?? last.at),
  )
  const state = { geofences, rules: { ...rules, stop: verdict.state } }
  const fields = stop.hasSpeed === true ? {} : addSpeed({}, verdict)
  return judgeConditions(state, { start, fields, stop: verdict }, { ...by, rules: applied })
}

function isAboutStops({ rules }: DeviceDefinitions): boolean {
  return rules.some(({ when }) => 'stopped' in when || ('field' in when && when.field === 'speed'))
}

/** Many devices at rest report no speed instead of 0. */
function addSpeed(fields: OptionalFields, stop: StopVerdict | undefined): OptionalFields {
  return stop?.isStopped === true ? { speed: 0, ...fields } : fields
}

function stopFix({ position, receivedAt }: PositionInput): StopFix {
  const { latitude, longitude, accuracy } = position
  const place = { latitude, longitude, ...(accuracy !== undefined && { accuracy }) }
  return { ...place, at: trueAt(position), receivedAt }
}
