import type {
  RulesState,
  RuleStanding,
  RuleValue,
  StartedWait,
  StopFix,
} from '../../schemas/definitions/definitions-state.ts'
import { namedRule, type DeviceRule } from '../../schemas/definitions/device-rule.ts'
import { judgeCondition, type Circumstances } from './conditions.ts'
import type { WaitClock, EndOfWait } from './geofences.ts'
import type { Watched } from './liveness.ts'
import { heldUntil, type Decision, type TimeInput } from './part.ts'

/** The enabled rules about a device. */
export type RuleDefinitions = Watched & {
  readonly rules: readonly DeviceRule[]
  /** The newest sign of life before this input; undefined: none. */
  readonly seenAt?: number | undefined
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

/** Judges the conditions of these rules by an input. `fixes`: positions of the stop, the first one first. */
export function judgeRules(
  state: RulesState,
  start: StartedWait,
  circumstances: Circumstances,
  { rules, fixes }: { rules: readonly DeviceRule[]; fixes: readonly StopFix[] },
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
    const begun = 'stopped' in when ? stopOf(rule, start, { circumstances, fixes }) : start
    const wait = standing?.wait ?? { ...begun, ...shown }
    if (!hasLasted(wait, rule, start)) {
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
  rules: readonly DeviceRule[],
): Judged {
  let { standings } = state
  const { receivedAt: at } = sign
  const decisions: Decision[] = []
  for (const rule of rules) {
    const raisedAt = 'silent' in rule.when ? standings[rule.id]?.raisedAt : undefined
    // A report from before the silence was found is late, and does not end it.
    if (raisedAt === undefined || at < raisedAt) continue
    standings = without(standings, rule.id)
    decisions.push(cleared(rule, raisedAt, { ...sign, at }, {}))
  }
  return { state: { ...state, standings }, decisions }
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
  { standings }: RulesState,
  { isInside, inForceSince, hereSince }: Circumstances,
  { rules, isWatched, watchedSince = 0, seenAt }: RuleDefinitions,
) {
  if (seenAt === undefined || !isWatched) return []
  const open = rules.filter(
    ({ id, when, geofenceIds }) =>
      'silent' in when &&
      standings[id] === undefined &&
      (geofenceIds === undefined || geofenceIds.some((geofence) => isInside(geofence) === true)),
  )
  return open.map((rule) => {
    const since = Math.max(seenAt, watchedSince, inForceSince(rule), hereSince(rule))
    return { rule, deadline: since + rule.forSeconds * 1_000 }
  })
}

/** A stop counts from its first position that was received since the rule is in force, and made where it applies. */
function stopOf(
  rule: DeviceRule,
  start: StartedWait,
  { circumstances, fixes }: { circumstances: Circumstances; fixes: readonly StopFix[] },
): StartedWait {
  const [since, hereSince] = [circumstances.inForceSince(rule), circumstances.hereSince(rule)]
  const fix = fixes.find((one) => one.receivedAt >= since && one.at >= hereSince)
  return fix === undefined ? start : { at: fix.at, receivedAt: fix.receivedAt }
}

/**
 * Whether a wait that began with an earlier input is over: by the timestamps of positions, or by the times of
 * receipt. A heartbeat or a repeat has no timestamp, and the device's clock may be slow.
 */
function hasLasted(wait: StartedWait, { forSeconds }: DeviceRule, now: StartedWait): boolean {
  const ms = forSeconds * 1_000
  if (wait.receivedAt + ms <= now.receivedAt) return true
  return now.position !== undefined && wait.at + ms <= now.at
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
  { at: endedAt, position }: StartedWait,
  shown: { readonly value?: RuleValue },
): Decision {
  // A wait ends by the clock of receipt, which may run ahead of the timestamps.
  const at = Math.max(endedAt, raisedAt)
  return {
    type: 'rule.cleared',
    rule: namedRule(rule),
    ...shown,
    raisedAt,
    seconds: (at - raisedAt) / 1_000,
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
