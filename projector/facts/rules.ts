import type {
  DefinitionsState,
  GeofencesState,
  RulesState,
  RuleStanding,
  RuleValue,
  StartedWait,
} from '../../schemas/definitions/definitions-state.ts'
import { pickRuleName, type DeviceRule } from '../../schemas/definitions/device-rule.ts'
import { isAlarm } from '../../schemas/report/alarm-names.ts'
import {
  MEASUREMENTS,
  type Measurement,
  type OptionalFields,
} from '../../schemas/report/report-fields.ts'
import type { Decision, DeviceDefinitions, Judged } from './decider.ts'
import { findInsideSince, isInside } from './geofences.ts'
import { definitionOf } from './sides.ts'
import type { StopVerdict } from './stops.ts'

/**
 * A moment at which conditions are judged: an input, or the end of a wait for a geofence or a stop.
 */
type Moment = {
  readonly start: StartedWait
  readonly fields: OptionalFields
  readonly stop?: Pick<StopVerdict, 'isStopped' | 'fixes'>
}

/** `undefined`: the moment does not affect the condition. */
type Verdict = { readonly holds: boolean | undefined; readonly value?: RuleValue }

const SAYS_NOTHING: Verdict = { holds: undefined }
const NO: Verdict = { holds: false }

/**
 * Since when a rule has applied to the device: entries received earlier decide nothing about it.
 */
export function ruleInForceSince(
  { changedAt, labels }: DeviceRule,
  { geofences }: DeviceDefinitions,
): number {
  return labels === undefined ? changedAt : Math.max(changedAt, geofences.selectedSince)
}

export function rulesInForce(receivedAt: number, by: DeviceDefinitions): readonly DeviceRule[] {
  const isInForce = (rule: DeviceRule) => ruleInForceSince(rule, by) <= receivedAt
  return by.rules.every(isInForce) ? by.rules : by.rules.filter(isInForce)
}

/**
 * When the device reached the area where a rule applies: a stop or silence starts then at the
 * earliest.
 */
export function findArrival(
  { geofenceIds = [] }: DeviceRule,
  geofences: GeofencesState,
  by: DeviceDefinitions,
): number {
  const insides = geofenceIds.flatMap((id) => findInsideSince(geofences, id, by.geofences) ?? [])
  return insides.length === 0 ? 0 : Math.min(...insides)
}

export function judgeConditions(
  { geofences, rules: state }: DefinitionsState,
  moment: Moment,
  by: DeviceDefinitions,
): Judged<RulesState> {
  const { start } = moment
  let after = state
  const decisions: Decision[] = []
  for (const rule of rulesInForce(start.receivedAt, by)) {
    const { id, revision } = rule
    const standing = after.standings[id]
    const { holds, value } = judgeCondition(rule, standing, { moment, geofences, by })
    const shown = value === undefined ? {} : { value }
    if (holds === undefined) continue
    if (!holds) {
      if (standing === undefined) continue
      after = { ...after, standings: removeStanding(after.standings, id) }
      if (standing.raisedAt !== undefined) {
        decisions.push(clearRule(rule, standing.raisedAt, start, shown))
      }
      continue
    }
    if (standing?.raisedAt !== undefined) continue
    const wait = standing?.wait ?? { ...startOf(rule, { moment, geofences, by }), ...shown }
    if (!hasLasted(wait, rule, start)) {
      if (standing === undefined) after = setStanding(after, id, { revision, wait })
      continue
    }
    const { decision, standing: next } = raiseRule(rule, wait)
    after = setStanding(after, id, next)
    decisions.push(decision)
  }
  return { state: after, decisions }
}

type Circumstances = {
  readonly moment: Moment
  readonly geofences: GeofencesState
  readonly by: DeviceDefinitions
}

/**
 * Whether a rule's condition holds. Once it holds, it continues to hold until the value passes
 * `clear`.
 */
function judgeCondition(
  { when, geofenceIds }: DeviceRule,
  standing: RuleStanding | undefined,
  { moment, geofences, by }: Circumstances,
): Verdict {
  const isIn = (id: string) => isInside(geofences, id)
  if (geofenceIds !== undefined && !geofenceIds.some((id) => isIn(id) === true)) {
    return geofenceIds.some((id) => isIn(id) === undefined) ? SAYS_NOTHING : NO
  }
  if ('inside' in when) return { holds: isIn(when.inside) }
  if ('outside' in when) {
    const isAbout = definitionOf(when.outside, by.geofences) !== undefined
    const inside = isIn(when.outside)
    return { holds: isAbout && (inside === undefined ? undefined : !inside) }
  }
  if ('stopped' in when) return { holds: moment.stop?.isStopped }
  // Judged by time, not by inputs.
  if ('silent' in when) return SAYS_NOTHING
  const value = valueOf(moment.fields, when.field)
  if (value === undefined) return SAYS_NOTHING
  if ('is' in when) {
    const isText = when.field === 'alarm' && typeof when.is === 'string'
    return { holds: isText ? isAlarm(value, when.is) : value === when.is, value }
  }
  if (typeof value !== 'number') return SAYS_NOTHING
  const limit = standing === undefined ? undefined : when.clear
  if ('above' in when) return { holds: value > (limit ?? when.above), value }
  return { holds: value < (limit ?? when.below), value }
}

/** Measurements have their own fields, everything else is an attribute. */
function valueOf(fields: OptionalFields, field: string): RuleValue | undefined {
  if (isMeasurement(field)) return fields[field]
  const { attributes } = fields
  return attributes !== undefined && Object.hasOwn(attributes, field)
    ? attributes[field]
    : undefined
}

function isMeasurement(field: string): field is Measurement {
  return MEASUREMENTS.some((name) => name === field)
}

/**
 * A stop counts from its first position received while the rule is in force, and recorded where it
 * applies.
 */
function startOf(
  rule: DeviceRule,
  { moment: { start, stop }, geofences, by }: Circumstances,
): StartedWait {
  if (!('stopped' in rule.when)) return start
  const [since, arrived] = [ruleInForceSince(rule, by), findArrival(rule, geofences, by)]
  const fix = stop?.fixes.find((one) => one.receivedAt >= since && one.at >= arrived)
  return fix === undefined ? start : { at: fix.at, receivedAt: fix.receivedAt }
}

/**
 * Whether a wait that started with an earlier input is over: by the timestamps of positions, or by
 * the times of receipt. A heartbeat or a repeat has no timestamp, and the device's clock may be
 * slow.
 */
function hasLasted(wait: StartedWait, { forSeconds }: DeviceRule, now: StartedWait): boolean {
  const ms = forSeconds * 1_000
  if (wait.receivedAt + ms <= now.receivedAt) return true
  return now.position !== undefined && wait.at + ms <= now.at
}

export function raiseRule(
  rule: DeviceRule,
  { at: begunAt, position, value }: StartedWait & { readonly value?: RuleValue },
): { readonly decision: Decision; readonly standing: RuleStanding } {
  const { revision, forSeconds } = rule
  const at = begunAt + forSeconds * 1_000
  const decision: Decision = {
    type: 'rule.raised',
    rule: pickRuleName(rule),
    ...(value !== undefined && { value }),
    at,
    ...(position !== undefined && { position }),
  }
  return { decision, standing: { revision, raisedAt: at } }
}

export function clearRule(
  rule: DeviceRule,
  raisedAt: number,
  { at: endedAt, position }: StartedWait,
  shown: { readonly value?: RuleValue } = {},
): Decision {
  // A wait ends by the time of receipt, which may be ahead of the timestamps.
  const at = Math.max(endedAt, raisedAt)
  return {
    type: 'rule.cleared',
    rule: pickRuleName(rule),
    ...shown,
    raisedAt,
    seconds: (at - raisedAt) / 1_000,
    at,
    ...(position !== undefined && { position }),
  }
}

export function setStanding(state: RulesState, id: string, standing: RuleStanding): RulesState {
  return { ...state, standings: { ...state.standings, [id]: standing } }
}

export function removeStanding(
  standings: RulesState['standings'],
  ...ids: readonly string[]
): RulesState['standings'] {
  return Object.fromEntries(Object.entries(standings).filter(([id]) => !ids.includes(id)))
}
