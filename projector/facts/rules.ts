import type {
  RulesState,
  RuleStanding,
  RuleValue,
  StartedWait,
} from '../../schemas/definitions-state.ts'
import { namedRule, type DeviceRule } from '../../schemas/device-rule.ts'
import { judgeCondition, type Circumstances } from './conditions.ts'
import type { WaitClock, EndOfWait } from './geofences.ts'
import { heldUntil, type Decision, type TimeInput } from './part.ts'

/** The enabled rules about a device. */
export type RuleDefinitions = {
  readonly rules: readonly DeviceRule[]
  /** False for a disabled device and in a suspended account: it never becomes silent. */
  readonly isWatched: boolean
}

export const NO_RULES: RulesState = { standings: {} }

type Standings = Readonly<Record<string, RuleStanding>>
type Judged = { readonly state: RulesState; readonly decisions: readonly Decision[] }

/** Drops, without facts, the standings of rules that were deleted, changed, disabled or are no longer about the device. */
export function withoutOtherRules(state: RulesState, { rules }: RuleDefinitions): RulesState {
  const isKept = (id: string) =>
    rules.some((rule) => rule.id === id && rule.revision === state.standings[id]?.revision)
  const gone = Object.keys(state.standings).filter((id) => !isKept(id))
  if (gone.length === 0) return state
  const standings = Object.entries(state.standings).filter(([id]) => !gone.includes(id))
  return { ...state, standings: Object.fromEntries(standings) }
}

/** The wait that ends first: its condition has held for long enough then. */
export function nextRuleEnd(
  { standings }: RulesState,
  { rules }: RuleDefinitions,
  clock: WaitClock,
): EndOfWait | undefined {
  let first: EndOfWait | undefined
  for (const { id, forSeconds } of rules) {
    const wait = standings[id]?.wait
    if (wait === undefined) continue
    const end = wait[clock] + forSeconds * 1_000
    if (first === undefined || end < first.end || (end === first.end && id < first.id)) {
      first = { id, end }
    }
  }
  return first
}

export function endRuleWait(
  state: RulesState,
  { id }: EndOfWait,
  { rules }: RuleDefinitions,
): Judged {
  const rule = rules.find((one) => one.id === id)
  const wait = state.standings[id]?.wait
  if (rule === undefined || wait === undefined) return { state, decisions: [] }
  const { decision, standing } = raised(rule, wait)
  return {
    state: { ...state, standings: { ...state.standings, [id]: standing } },
    decisions: [decision],
  }
}

/** Judges the conditions of all rules by an input. `stoppedSince`: the first position of the stop. */
export function judgeRules(
  state: RulesState,
  start: StartedWait,
  circumstances: Circumstances,
  { rules, stoppedSince }: RuleDefinitions & { readonly stoppedSince?: StartedWait | undefined },
): Judged {
  let { standings } = state
  const decisions: Decision[] = []
  for (const rule of rules) {
    const { id, revision, when } = rule
    const standing = standings[id]
    const { holds, value } = judgeCondition(rule, standing, circumstances)
    const shown = value === undefined ? {} : { value }
    if (holds === undefined) continue
    if (!holds) {
      if (standing === undefined) continue
      standings = without(standings, id)
      if (standing.raisedAt !== undefined) {
        decisions.push(cleared(rule, standing.raisedAt, start, shown))
      }
      continue
    }
    if (standing?.raisedAt !== undefined) continue
    const begun =
      'stopped' in when ? notBefore(circumstances.appliedSince(rule), stoppedSince ?? start) : start
    const wait = standing?.wait ?? { ...begun, ...shown }
    if (wait.at + rule.forSeconds * 1_000 > start.at) {
      if (standing === undefined) standings = { ...standings, [id]: { revision, wait } }
      continue
    }
    const { decision, standing: next } = raised(rule, wait)
    standings = { ...standings, [id]: next }
    decisions.push(decision)
  }
  return { state: standings === state.standings ? state : { ...state, standings }, decisions }
}

/** Every report is a sign of life: late ones, repeats and heartbeats too. */
export function hearDevice(
  state: RulesState,
  sign: StartedWait,
  { rules }: RuleDefinitions,
): Judged {
  let { standings } = state
  const { receivedAt: at } = sign
  const seen = { at: Math.max(state.seen?.at ?? -Infinity, at) }
  const decisions: Decision[] = []
  for (const rule of rules) {
    const raisedAt = 'silent' in rule.when ? standings[rule.id]?.raisedAt : undefined
    // A report from before the silence was found is late, and does not end it.
    if (raisedAt === undefined || at < raisedAt) continue
    standings = without(standings, rule.id)
    decisions.push(cleared(rule, raisedAt, { ...sign, at }, {}))
  }
  return { state: { ...state, seen, standings }, decisions }
}

/** Judges the rules about silence. `due`: when the next one may have to be raised. */
export function judgeSilence(
  state: RulesState,
  { at, hearing }: TimeInput,
  circumstances: Circumstances,
  definitions: RuleDefinitions,
): Judged & { readonly due: number | null } {
  let { standings } = state
  let due: number | null = null
  const decisions: Decision[] = []
  for (const { rule, deadline } of silences(state, circumstances, definitions)) {
    const held = heldUntil(hearing, rule.forSeconds * 1_000)
    if (deadline > at) due = earliest(due, deadline)
    else if (held !== null) due = earliest(due, held)
    else {
      standings = { ...standings, [rule.id]: { revision: rule.revision, raisedAt: deadline } }
      decisions.push({
        type: 'rule.raised',
        rule: namedRule(rule),
        at: deadline,
      })
    }
  }
  return { state: { ...state, standings }, decisions, due }
}

/** When a rule about silence may have to be raised. */
export function nextSilence(
  state: RulesState,
  circumstances: Circumstances,
  definitions: RuleDefinitions,
): number | null {
  return silences(state, circumstances, definitions).reduce<number | null>(
    (first, { deadline }) => earliest(first, deadline),
    null,
  )
}

/** The silences under way, with the time at which they become too long. */
function silences(
  { seen, standings }: RulesState,
  { isInside, appliedSince }: Pick<Circumstances, 'isInside' | 'appliedSince'>,
  { rules, isWatched }: RuleDefinitions,
) {
  if (seen === undefined || !isWatched) return []
  const open = rules.filter(
    ({ id, when, geofenceIds }) =>
      'silent' in when &&
      standings[id] === undefined &&
      (geofenceIds === undefined || geofenceIds.some((geofence) => isInside(geofence) === true)),
  )
  return open.map((rule) => ({
    rule,
    deadline: Math.max(seen.at, appliedSince(rule)) + rule.forSeconds * 1_000,
  }))
}

/** A stop that the device was at before the rule applied to it counts from then on. */
function notBefore(time: number, start: StartedWait): StartedWait {
  if (start.at >= time) return start
  return { ...start, at: time, receivedAt: Math.max(time, start.receivedAt) }
}

function raised(
  rule: DeviceRule,
  { at: begunAt, position, value }: StartedWait & { readonly value?: RuleValue },
): { readonly decision: Decision; readonly standing: RuleStanding } {
  const { revision, forSeconds } = rule
  const at = begunAt + forSeconds * 1_000
  const decision: Decision = {
    type: 'rule.raised',
    rule: namedRule(rule),
    ...(value !== undefined && { value }),
    at,
    ...(position !== undefined && { position }),
  }
  return { decision, standing: { revision, raisedAt: at } }
}

function cleared(
  rule: DeviceRule,
  raisedAt: number,
  { at, position }: StartedWait,
  shown: { readonly value?: RuleValue },
): Decision {
  return {
    type: 'rule.cleared',
    rule: namedRule(rule),
    ...shown,
    raisedAt,
    // A wait ends by the clock of receipt, which may run ahead of the timestamps.
    seconds: Math.max(0, at - raisedAt) / 1_000,
    at,
    ...(position !== undefined && { position }),
  }
}

function earliest(one: number | null, other: number): number {
  return one === null ? other : Math.min(one, other)
}

function without(standings: Standings, id: string): Standings {
  return Object.fromEntries(Object.entries(standings).filter(([one]) => one !== id))
}
