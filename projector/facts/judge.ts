import { withOffset } from '../../event-log/offsets.ts'
import { jsonSize } from '../../runtime/json-size.ts'
import { compareOrigins, comparePositionTimes } from '../../schemas/geo/position-order.ts'
import type { Origin } from '../../schemas/devices/read-models.ts'
import type { DefinitionsState } from '../../schemas/definitions/definitions-state.ts'
import { lifeOf, type FactState, type LastJudged } from '../../schemas/facts/fact-state.ts'
import { factId, type DeviceFact } from '../../schemas/facts/facts.ts'
import type { PositionEntry, RepeatEntry, SeenEntry } from '../../schemas/events/log-entry.ts'
import { withOptionalFields } from '../../schemas/report/report-fields.ts'
import type { JudgedDevice } from '../../store/facts.ts'
import { overspent, spend } from './fact-budget.ts'
import { judgeAlarms } from './alarms.ts'
import { insideOf } from './geofences.ts'
import {
  insideAfterEach,
  judgeDefinitions,
  NO_DEFINITIONS,
  type DefinedBy,
} from './judge-definitions.ts'
import { judgeLiveness, type LivenessDefinitions } from './liveness.ts'
import type { Decision, Hearing, FactInput, JudgedPosition, PositionInput } from './part.ts'
import { uneventful } from './uneventful.ts'

/** The definitions by which a device is judged. */
export type DeviceDefinitions = LivenessDefinitions & {
  /** Absent: the account has neither geofences nor rules. */
  readonly defined?: DefinedBy
}

/** An entry of the log that counts. */
export type JudgedEntry = PositionEntry | RepeatEntry | SeenEntry

export type DeviceJudging = {
  readonly accountId: string
  readonly deviceId: string
  readonly definitions: DeviceDefinitions
  readonly hearing: Omit<Hearing, 'now'>
  readonly decidedAt: number
}

/** What is decided by one call. */
type Made = {
  readonly facts: DeviceFact[]
  /** About as many as their JSON has. */
  bytes: number
}

/** Then the facts made so far are stored first. */
const MOST_BYTES = 2 ** 20
/** The common fields of a fact. */
const FACT_BYTES = 250
const MOST_INSIDE = 100
const NO_FACTS: readonly DeviceFact[] = []
const NEW_DEVICE: FactState = { sequence: 0, applied: {}, due: null }

/**
 * Judges entries of one device, in the order of the log; those that were judged already change nothing. After many
 * facts it stops early, between two inputs: called again with that state, it goes on.
 */
export function judgeEntries(
  before: FactState | undefined,
  entries: readonly JudgedEntry[],
  judging: DeviceJudging,
): JudgedDevice {
  let state = before ?? NEW_DEVICE
  let made: Made | undefined
  for (const entry of entries) {
    const { partition, offset } = entry.origin
    if (offset <= (state.applied[partition] ?? -1)) continue
    const next =
      entry.kind === 'position' ? uneventful(state, entry, judging.definitions) : undefined
    if (next !== undefined) {
      state = next
      continue
    }
    made ??= { facts: [], bytes: 0 }
    if (isFull(made)) return partial(state, made)
    if (!isWithdrawn(state, entry) && !isBeforeFirstReport(state, entry)) {
      const now = entry.event.receivedAt
      state = letTimePass(state, now, judging, made)
      if (isFull(made)) return partial(state, made)
      const input = inputOf(state, entry)
      state = judge(state, input, judging, made)
      if (input.kind === 'position' && !input.isLate && !input.isRepeat) {
        state = { ...state, last: lastJudged(input.position, entry.origin) }
      }
    }
    state = { ...state, applied: withOffset(state.applied, entry.origin) }
  }
  return { state, facts: made?.facts ?? NO_FACTS }
}

/** Judges that the time has come to `now` for a device of which nothing has arrived. */
export function judgeTime(state: FactState, now: number, judging: DeviceJudging): JudgedDevice {
  const made: Made = { facts: [], bytes: 0 }
  const after = letTimePass(state, now, judging, made)
  return isDue(after, now) ? partial(after, made) : { state: after, facts: made.facts }
}

function isFull({ bytes }: Made): boolean {
  return bytes > MOST_BYTES
}

function partial(state: FactState, { facts }: Made): JudgedDevice {
  return { state, facts, isPartial: true }
}

function isDue({ due }: FactState, now: number): boolean {
  return due !== null && due <= now
}

/** A state in which the settings, geofences or rules have changed: its deadlines are computed again when it is next looked at. */
export function lookedAtSoon(state: FactState, now: number): FactState {
  const { liveness } = state
  if (liveness === undefined) return state
  const due = earliest(state.due, now)
  if (liveness.due === null) return { ...state, due }
  return { ...state, liveness: { ...liveness, due: Math.min(liveness.due, now) }, due }
}

/** As far as `now`, unless it stops early. */
function letTimePass(
  before: FactState,
  now: number,
  judging: DeviceJudging,
  made: Made,
): FactState {
  let state = before
  while (state.due !== null && state.due <= now && !isFull(made)) {
    const hearing = { ...judging.hearing, now }
    state = judge(state, { kind: 'time', at: state.due, hearing }, judging, made)
  }
  return state
}

/** The parts, in this order. */
function judge(state: FactState, input: FactInput, judging: DeviceJudging, made: Made): FactState {
  const { definitions } = judging
  const alarms = judgeAlarms(state.alarms, input)
  const by = definitions.defined ?? NO_DEFINITIONS
  const { isWatched, watchedSince } = definitions
  const watch = { isWatched, watchedSince, seenAt: state.liveness?.seenAt }
  const defined = judgeDefinitions(state.definitions, input, { ...by, ...watch })
  const liveness = judgeLiveness(state.liveness, input, definitions)
  const before = insideIn(state.definitions)
  const after = insideIn(defined.state)
  const insideAfter = defined.state ? insideAfterEach(defined.state, defined.decisions) : []
  const decided = [
    ...alarms.decisions.map((decision) => ({ decision, inside: before })),
    ...defined.decisions.map((decision, n) => ({ decision, inside: insideAfter[n] ?? after })),
    ...liveness.decisions.map((decision) => ({ decision, inside: after })),
  ]
  let { sequence, budget } = state
  const receivedAt = input.kind === 'time' ? input.at : input.receivedAt
  for (const { decision, inside } of decided) {
    const left = spend(budget, receivedAt)
    if (left === undefined) {
      budget = budget && overspent(budget)
      continue
    }
    const { suppressed } = budget ?? {}
    budget = left
    sequence += 1
    const more = {
      sequence,
      inside: inside.slice(-MOST_INSIDE),
      ...(suppressed !== undefined && { suppressed }),
    }
    made.facts.push(factOf(decision, more, judging, lifeOf(state)))
    made.bytes += bytesOf(decision, input)
  }
  if (sequence > state.sequence) made.bytes += bytesOfInput(input, after)
  return {
    ...state,
    sequence,
    due: earliest(alarms.due, earliest(defined.due, liveness.due)),
    ...(alarms.state !== undefined && { alarms: alarms.state }),
    ...(budget !== undefined && { budget }),
    ...(defined.state !== undefined && { definitions: defined.state }),
    ...(liveness.state !== undefined && { liveness: liveness.state }),
  }
}

function insideIn(state: DefinitionsState | undefined): readonly string[] {
  return state === undefined ? [] : insideOf(state.geofences)
}

function factOf(
  decision: Decision,
  more: Pick<DeviceFact, 'sequence' | 'inside' | 'suppressed'>,
  { accountId, deviceId, decidedAt }: DeviceJudging,
  life: string,
): DeviceFact {
  const { position, ...details } = decision
  const fact = { ...details, ...more, accountId, deviceId, decidedAt, id: '' }
  fact.id = factId(fact, life)
  return position === undefined ? fact : Object.assign(fact, { position })
}

function bytesOf({ position, ...details }: Decision, input: FactInput): number {
  const isOwn = input.kind !== 'position' || position !== input.position
  return FACT_BYTES + jsonSize(details) + (isOwn && position !== undefined ? jsonSize(position) : 0)
}

/** What the facts of an input have in common is stored once for them. */
function bytesOfInput(input: FactInput, inside: readonly string[]): number {
  const position = input.kind === 'position' ? jsonSize(input.position) : 0
  return position + 30 * Math.min(inside.length, MOST_INSIDE)
}

/** It was received before an erasure that it follows in the log, or in another partition. */
function isWithdrawn({ erased }: FactState, { origin, event, spooled }: JudgedEntry): boolean {
  if (erased === undefined || event.receivedAt > erased.at) return false
  return spooled === true || origin.partition !== erased.partition
}

/** A heartbeat before a device's first position counts for nothing. */
function isBeforeFirstReport({ liveness }: FactState, { kind }: JudgedEntry): boolean {
  return kind === 'seen' && liveness === undefined
}

function inputOf(state: FactState, entry: JudgedEntry): Exclude<FactInput, { kind: 'time' }> {
  if (entry.kind === 'seen') {
    const { receivedAt, battery, attributes } = entry.event
    return {
      kind: 'heartbeat',
      receivedAt,
      ...(battery !== undefined && { battery }),
      ...(attributes !== undefined && { attributes }),
    }
  }
  return positionInput(state, entry)
}

function positionInput({ last }: FactState, entry: PositionEntry | RepeatEntry): PositionInput {
  const { event, origin } = entry
  const { recordId, receivedAt, latitude, longitude, timestamp } = event
  const position: JudgedPosition = withOptionalFields(
    { recordId, latitude, longitude, timestamp, receivedAt },
    event,
  )
  const isRepeat = entry.kind === 'repeat'
  const isLate =
    last !== undefined &&
    (isRepeat ? recordId !== last.recordId : compareJudged(lastJudged(position, origin), last) <= 0)
  return { kind: 'position', position, isLate, isRepeat, receivedAt }
}

function lastJudged(
  { recordId, timestamp, receivedAt }: JudgedPosition,
  origin: Origin,
): LastJudged {
  return { recordId, timestamp, receivedAt, origin }
}

/** The order of `lastPosition`. */
function compareJudged(a: LastJudged, b: LastJudged): number {
  return comparePositionTimes(a, b) || compareOrigins(a.origin, b.origin)
}

function earliest(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}
