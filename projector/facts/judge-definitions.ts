import type {
  DefinitionsState,
  StartedWait,
  StopFix,
} from '../../schemas/definitions/definitions-state.ts'
import type { LastPosition } from '../../schemas/devices/read-models.ts'
import type { OptionalFields } from '../../schemas/report/report-fields.ts'
import type { DeviceRule } from '../../schemas/definitions/device-rule.ts'
import { valueOf, type Circumstances } from './conditions.ts'
import { GeofenceIndex } from '../../schemas/geo/geofence-index.ts'
import {
  endWait,
  insideOf,
  insideSince,
  judgePlace,
  nextEnd,
  NO_GEOFENCES,
  withoutOthers,
  type WaitClock,
  type GeofenceDefinitions,
} from './geofences.ts'
import type {
  Decision,
  FactInput,
  HeartbeatInput,
  PartJudgement,
  PositionInput,
  TimeInput,
} from './part.ts'
import {
  endRuleWait,
  hearDevice,
  judgeRules,
  judgeSilence,
  nextRuleEnd,
  nextSilence,
  NO_RULES,
  withoutOtherRules,
  type RuleDefinitions,
} from './rules.ts'
import { judgeStop, type StopVerdict } from './stops.ts'

/** The geofences and rules that a device is judged by. */
export type JudgedBy = { readonly geofences: GeofenceDefinitions } & RuleDefinitions
export type DefinedBy = Pick<JudgedBy, 'geofences' | 'rules'>

/** An account without geofences and rules. */
export const NO_DEFINITIONS: DefinedBy = {
  geofences: { index: new GeofenceIndex([]), applies: () => true, selectedSince: 0 },
  rules: [],
}

type Run = { readonly state: DefinitionsState; readonly decisions: readonly Decision[] }

/**
 * Judges the geofences, then the rules, which may be about geofences. Waits end in the order of their ends: a rule
 * on a geofence begins with the wait that ends there.
 */
export function judgeDefinitions(
  before: DefinitionsState | undefined,
  input: FactInput,
  definitions: JudgedBy,
): PartJudgement<DefinitionsState | undefined> {
  // A heartbeat before the first position has no effect, and time has none.
  if (before === undefined && (input.kind !== 'position' || input.isRepeat)) {
    return { state: before, decisions: [], due: null }
  }
  // Nothing waits for a deadline, so the time alone changes nothing.
  if (input.kind === 'time' && definitions.rules.length === 0 && isWithoutStandings(before)) {
    return { state: before, decisions: [], due: null }
  }
  const known = before ?? { geofences: NO_GEOFENCES, rules: NO_RULES }
  const run: Run = {
    state: {
      geofences: withoutOthers(known.geofences, definitions.geofences),
      rules: withoutOtherRules(known.rules, definitions),
    },
    decisions: [],
  }
  if (input.kind === 'time') return timePassed(run, input, definitions)
  const sign = signOf(input)
  const rules = inForceAt(input.receivedAt, run.state, definitions)
  const heard = withRules(run, hearDevice(run.state.rules, sign, rules))
  const { state, decisions } = judgeInput(heard, input, definitions)
  const seenAt = Math.max(definitions.seenAt ?? 0, input.receivedAt)
  const circumstances = circumstancesOf(state, definitions)
  const silence = nextSilence(state.rules, circumstances, { ...definitions, seenAt })
  return { state, decisions, due: earliest(nextDue(state, definitions), silence) }
}

/** The state of a device whose last position is known, and no facts. It is inside the geofences around it without a fact. */
export function seededDefinitions(lastPosition: LastPosition): DefinitionsState {
  const { latitude, longitude, accuracy } = lastPosition
  // As if it had been judged before any geofence was made.
  const last = { latitude, longitude, ...(accuracy !== undefined && { accuracy }), receivedAt: 0 }
  return { geofences: { ...NO_GEOFENCES, last }, rules: NO_RULES }
}

/** The geofences that the device is in after each decision. */
export function insideAfterEach(
  state: DefinitionsState,
  decisions: readonly Decision[],
): readonly (readonly string[])[] {
  let inside = insideOf(state.geofences)
  const after: (readonly string[])[] = []
  for (const decision of [...decisions].reverse()) {
    after.unshift(inside)
    if (decision.type === 'geofence.entered') {
      inside = inside.filter((id) => id !== decision.geofence.id)
    } else if (decision.type === 'geofence.left') {
      inside = [...inside, decision.geofence.id]
    }
  }
  return after
}

/** Entries received before a rule was in force, but judged later, decide nothing by it. */
function inForceAt(
  receivedAt: number,
  state: DefinitionsState,
  definitions: JudgedBy,
): readonly DeviceRule[] {
  const { inForceSince } = circumstancesOf(state, definitions)
  const { rules } = definitions
  const isInForce = (rule: DeviceRule) => inForceSince(rule) <= receivedAt
  return rules.every(isInForce) ? rules : rules.filter(isInForce)
}

function judgeInput(run: Run, input: PositionInput | HeartbeatInput, definitions: JudgedBy): Run {
  if (input.kind === 'heartbeat' || input.isRepeat) {
    if (input.kind === 'position' && input.isLate) return run
    const fields = input.kind === 'position' ? input.position : input
    return ruled(run, signOf(input), fields, definitions)
  }
  if (input.isLate) return run
  const { position, receivedAt } = input
  const at = Math.min(position.timestamp, position.receivedAt)
  const start: StartedWait = { at, receivedAt, position }
  const rules = inForceAt(receivedAt, run.state, definitions)
  const by = { ...definitions, rules }
  const passed = passWaits(run, { until: at, clock: 'at', received: receivedAt }, by)
  const { state: geofences, decisions } = judgePlace(
    passed.state.geofences,
    input,
    definitions.geofences,
  )
  const placed: Run = {
    state: { geofences, rules: passed.state.rules },
    decisions: [...passed.decisions, ...decisions],
  }
  if (!definitions.rules.some(({ when }) => 'stopped' in when)) {
    const { standings } = placed.state.rules
    return ruled(
      { ...placed, state: { geofences, rules: { standings } } },
      start,
      position,
      definitions,
    )
  }
  const { latitude, longitude, accuracy } = position
  const fix: StopFix = {
    latitude,
    longitude,
    ...(accuracy !== undefined && { accuracy }),
    at,
    receivedAt,
  }
  const { state: stop, ...verdict } = judgeStop(placed.state.rules.stop, fix)
  const stopping: Run = { ...placed, state: { geofences, rules: { ...placed.state.rules, stop } } }
  return ruled(stopping, start, position, definitions, verdict)
}

/** Judges the rules by the fields of an input. */
function ruled(
  { state, decisions }: Run,
  start: StartedWait,
  fields: OptionalFields,
  definitions: JudgedBy,
  { isStopped, fixes }: Omit<StopVerdict, 'state'> = { isStopped: undefined, fixes: [] },
): Run {
  const known = circumstancesOf(state, definitions)
  const circumstances = { ...known, isStopped, valueOf: (field: string) => valueOf(fields, field) }
  const rules = inForceAt(start.receivedAt, state, definitions)
  const judged = judgeRules(state.rules, start, circumstances, { rules, fixes })
  return withRules({ state, decisions }, judged)
}

/** Ends the waits up to a time, the earliest first. */
function passWaits(
  run: Run,
  {
    until,
    clock,
    received,
  }: {
    readonly until: number
    readonly clock: WaitClock
    /** When the input was received that ends them, if one does. */
    readonly received?: number
  },
  definitions: JudgedBy,
): Run {
  let passed = run
  for (;;) {
    const { geofences, rules } = passed.state
    const place = nextEnd(geofences, definitions.geofences, clock, received)
    const rule = nextRuleEnd(rules, definitions, clock)
    const isPlace = place !== undefined && (rule === undefined || place.end <= rule.end)
    const next = isPlace ? place : rule
    if (next === undefined || next.end > until) return passed
    if (!isPlace) {
      passed = withRules(passed, endRuleWait(rules, next, definitions))
      continue
    }
    const ended = endWait(geofences, next, definitions.geofences)
    passed = {
      state: { geofences: ended.state, rules },
      decisions: [...passed.decisions, ...ended.decisions],
    }
    if (ended.wait !== undefined) passed = ruled(passed, ended.wait, {}, definitions)
  }
}

function timePassed(
  run: Run,
  input: TimeInput,
  definitions: JudgedBy,
): PartJudgement<DefinitionsState> {
  const passed = passWaits(run, { until: input.at, clock: 'receivedAt' }, definitions)
  const circumstances = circumstancesOf(passed.state, definitions)
  const silent = judgeSilence(passed.state.rules, input, circumstances, definitions)
  const { state, decisions } = withRules(passed, silent)
  return { state, decisions, due: earliest(nextDue(state, definitions), silent.due) }
}

function nextDue({ geofences, rules }: DefinitionsState, definitions: JudgedBy): number | null {
  const place = nextEnd(geofences, definitions.geofences, 'receivedAt')?.end ?? null
  return earliest(place, nextRuleEnd(rules, definitions, 'receivedAt')?.end ?? null)
}

function circumstancesOf({ geofences }: DefinitionsState, definitions: JudgedBy): Circumstances {
  const { index, applies, selectedSince } = definitions.geofences
  const isAbout = (id: string) => {
    const known = index.get(id)
    return known !== undefined && applies(known.geofence)
  }
  const inForceSince = ({ changedAt, labels }: DeviceRule) =>
    labels === undefined ? changedAt : Math.max(changedAt, selectedSince)
  return {
    isInside(id) {
      const side = geofences.standings[id]?.side
      return side === 'unknown' ? undefined : side === 'inside'
    },
    isAbout,
    valueOf: () => undefined,
    isStopped: undefined,
    inForceSince,
    hereSince({ geofenceIds = [] }) {
      const insides = geofenceIds.flatMap(
        (id) => insideSince(geofences, id, definitions.geofences) ?? [],
      )
      return insides.length === 0 ? 0 : Math.min(...insides)
    },
  }
}

function signOf(input: PositionInput | HeartbeatInput): StartedWait {
  const { receivedAt } = input
  if (input.kind === 'heartbeat' || input.isRepeat) return { at: receivedAt, receivedAt }
  return { at: receivedAt, receivedAt, position: input.position }
}

function withRules(
  { state, decisions }: Run,
  judged: { readonly state: DefinitionsState['rules']; readonly decisions: readonly Decision[] },
): Run {
  return {
    state: { geofences: state.geofences, rules: judged.state },
    decisions: [...decisions, ...judged.decisions],
  }
}

function isWithoutStandings(state: DefinitionsState | undefined): boolean {
  if (state === undefined) return true
  const { geofences, rules } = state
  return Object.keys(geofences.standings).length + Object.keys(rules.standings).length === 0
}

function earliest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}
