import type { DefinitionsState, RulesState } from '../../schemas/definitions/definitions-state.ts'
import { pickRuleName, type DeviceRule } from '../../schemas/definitions/device-rule.ts'
import { SILENCE } from '../../schemas/devices/liveness.ts'
import type { FactState, LivenessState } from '../../schemas/facts/fact-state.ts'
import {
  pickEarlier,
  signOfLife,
  keepState,
  type Decision,
  type DeviceDefinitions,
  type FactInput,
  type Hearing,
  type Judged,
  type TimeInput,
} from './decider.ts'
import { isInside } from './geofences.ts'
import { clearRule, findArrival, ruleInForceSince, rulesInForce, removeStanding } from './rules.ts'

/**
 * A deadline is checked no later than this, because the settings may have changed in the meantime.
 */
const LOOK_AGAIN_MS = 60 * 60 * 1_000
const ASK_AGAIN_MS = 10_000

/** How long a device may be silent before it counts as offline in its status. */
export function offlineAfter(expectedIntervalSeconds: number | undefined): number {
  const { longestMs, intervals, leastMs } = SILENCE.idle
  if (expectedIntervalSeconds === undefined) return longestMs
  return Math.max(intervals * 1_000 * expectedIntervalSeconds, leastMs)
}

/**
 * Clears the rules about silence. Every report is a sign of life: late ones, repeats and heartbeats
 * too.
 */
export function endSilences(state: FactState, input: FactInput, by: DeviceDefinitions): Judged {
  const { definitions } = state
  if (definitions === undefined || input.kind === 'time') return keepState(state)
  const sign = signOfLife(input)
  let { standings } = definitions.rules
  const decisions: Decision[] = []
  for (const rule of rulesInForce(input.receivedAt, by)) {
    const raisedAt = 'silent' in rule.when ? standings[rule.id]?.raisedAt : undefined
    if (!isBroken(raisedAt, sign.receivedAt)) continue
    standings = removeStanding(standings, rule.id)
    decisions.push(clearRule(rule, raisedAt, sign))
  }
  return { state: addStandings(state, definitions, standings), decisions }
}

/** Raises the rules about silence. */
export function judgeSilences(state: FactState, input: FactInput, by: DeviceDefinitions): Judged {
  const { definitions } = state
  if (definitions === undefined || input.kind !== 'time') return keepState(state)
  let { standings } = definitions.rules
  const decisions: Decision[] = []
  for (const { rule, deadline, silenceMs } of silences(state, by)) {
    if (openUntil({ deadline, silenceMs }, input) !== null) continue
    standings = { ...standings, [rule.id]: { revision: rule.revision, raisedAt: deadline } }
    decisions.push({ type: 'rule.raised', rule: pickRuleName(rule), at: deadline })
  }
  return { state: addStandings(state, definitions, standings), decisions }
}

/** Returns the next time at which a rule about silence may have to be raised, after this input. */
export function nextSilence(
  state: FactState,
  input: FactInput,
  by: DeviceDefinitions,
): number | null {
  return silences(state, by).reduce<number | null>(
    (first, silence) =>
      pickEarlier(first, input.kind === 'time' ? openUntil(silence, input) : silence.deadline),
    null,
  )
}

type Silence = {
  /** When the silence becomes too long. */
  readonly deadline: number
  readonly silenceMs: number
}

/** The current silences that rules are about. */
function silences(
  { definitions, liveness }: FactState,
  by: DeviceDefinitions,
): (Silence & { readonly rule: DeviceRule })[] {
  if (definitions === undefined || liveness === undefined || !by.isWatched) return []
  const { geofences, rules } = definitions
  const open = by.rules.filter(
    ({ id, when, geofenceIds }) =>
      'silent' in when &&
      rules.standings[id] === undefined &&
      (geofenceIds === undefined || geofenceIds.some((one) => isInside(geofences, one) === true)),
  )
  return open.map((rule) => {
    const since = Math.max(ruleInForceSince(rule, by), findArrival(rule, geofences, by))
    const silenceMs = rule.forSeconds * 1_000
    return {
      rule,
      silenceMs,
      deadline: Math.max(since, findSilenceStart(liveness, by)) + silenceMs,
    }
  })
}

/**
 * Judges the rule about silence that applies to every device: after too long without a sign of
 * life, it is offline.
 */
export function judgeLiveness(state: FactState, input: FactInput, by: DeviceDefinitions): Judged {
  const { liveness } = state
  if (input.kind === 'time') {
    if (liveness === undefined || liveness.offlineAt !== undefined) return keepState(state)
    return judgeOffline(state, liveness, { input, by })
  }
  const { receivedAt } = input
  const seenAt = Math.max(liveness?.seenAt ?? -Infinity, receivedAt)
  if (liveness !== undefined && !isBroken(liveness.offlineAt, receivedAt)) {
    return keepState({ ...state, liveness: { ...liveness, seenAt } })
  }
  const { position } = signOfLife(input)
  const due = nextLookAt(receivedAt + by.offlineAfterMs, receivedAt)
  const online: Decision = {
    type: 'device.online',
    at: receivedAt,
    previous: liveness === undefined ? null : 'offline',
    ...(position !== undefined && { position }),
  }
  return { state: { ...state, liveness: { seenAt, due } }, decisions: [online] }
}

function judgeOffline(
  state: FactState,
  liveness: LivenessState,
  { input, by }: { readonly input: TimeInput; readonly by: DeviceDefinitions },
): Judged {
  const { offlineAfterMs: silenceMs, isWatched } = by
  const deadline = offlineDeadline(liveness, by)
  const until = openUntil({ deadline, silenceMs }, input)
  if (until === null && isWatched) {
    return {
      state: { ...state, liveness: { seenAt: liveness.seenAt, offlineAt: deadline, due: null } },
      decisions: [{ type: 'device.offline', at: deadline }],
    }
  }
  const { now } = input.hearing
  const later = isWatched ? until : now + LOOK_AGAIN_MS
  const due = deadline > input.at ? nextLookAt(deadline, now) : later
  return keepState({ ...state, liveness: { ...liveness, due } })
}

/** Returns the time at which a device goes offline if it sends nothing more. */
export function offlineDeadline(liveness: LivenessState, by: DeviceDefinitions): number {
  return findSilenceStart(liveness, by) + by.offlineAfterMs
}

/** Returns the time of a deadline's next check. */
export function nextLookAt(deadline: number, now: number): number {
  return Math.min(deadline, now + LOOK_AGAIN_MS)
}

/** A report from before a silence was detected is late, and does not end the silence. */
function isBroken(foundAt: number | undefined, receivedAt: number): foundAt is number {
  return foundAt !== undefined && receivedAt >= foundAt
}

function findSilenceStart(
  { seenAt }: LivenessState,
  { watchedSince = 0 }: DeviceDefinitions,
): number {
  return Math.max(seenAt, watchedSince)
}

/**
 * When a silence must be checked again; null: it has lasted, although reports could have been
 * received.
 */
function openUntil({ deadline, silenceMs }: Silence, { at, hearing }: TimeInput): number | null {
  return deadline > at ? deadline : findNextCheck(hearing, silenceMs)
}

/**
 * When to check again whether the device was silent, if that is still unknown; null if it was
 * silent.
 */
function findNextCheck({ now, since, graceMs }: Hearing, silenceMs: number): number | null {
  const from = since + Math.min(silenceMs, graceMs)
  if (now >= from) return null
  return from === Infinity ? now + ASK_AGAIN_MS : from
}

function addStandings(
  state: FactState,
  { geofences, rules }: DefinitionsState,
  standings: RulesState['standings'],
): FactState {
  if (standings === rules.standings) return state
  return { ...state, definitions: { geofences, rules: { ...rules, standings } } }
}
