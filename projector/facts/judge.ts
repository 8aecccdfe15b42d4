import { setOffset } from '../../event-log/offsets.ts'
import { jsonSize } from '../../runtime/json-size.ts'
import type { Origin } from '../../schemas/devices/read-models.ts'
import type { PositionEntry, RepeatEntry, SeenEntry } from '../../schemas/events/log-entry.ts'
import {
  lifeOf,
  type FactBudget,
  type FactState,
  type LastJudged,
} from '../../schemas/facts/fact-state.ts'
import { factId, type DeviceFact } from '../../schemas/facts/facts.ts'
import { compareOrigins, comparePositionTimes } from '../../schemas/geo/position-order.ts'
import { addOptionalFields } from '../../schemas/report/report-fields.ts'
import type { JudgedDevice } from '../../store/facts.ts'
import {
  isMove,
  type Decision,
  type DeviceDefinitions,
  type FactInput,
  type Hearing,
  type JudgedPosition,
  type PositionInput,
} from './decider.ts'
import { decide, type Decided } from './decide.ts'
import { uneventful } from './uneventful.ts'

/** An entry of the log that counts. */
export type JudgedEntry = PositionEntry | RepeatEntry | SeenEntry

export type DeviceJudging = {
  readonly accountId: string
  readonly deviceId: string
  readonly definitions: DeviceDefinitions
  readonly hearing: Omit<Hearing, 'now'>
  readonly decidedAt: number
}

/** The result of one call. */
type Made = {
  readonly facts: DeviceFact[]
  /** Approximate size as JSON. */
  bytes: number
}

/** At this size the facts created so far are stored first. */
const MOST_BYTES = 2 ** 20
/** The common fields of a fact. */
const FACT_BYTES = 250
const MOST_INSIDE = 100
/** 600 facts an hour. */
const FACT_EVERY_MS = 6_000
const LARGEST_BURST = 1_200
const NEW_DEVICE: FactState = { sequence: 0, applied: {}, due: null }

/**
 * Judges entries of one device, in the order of the log; entries judged already change nothing.
 * After many facts it stops early, between two inputs; called again with the resulting state, it
 * continues.
 */
export function judgeEntries(
  before: FactState | undefined,
  entries: readonly JudgedEntry[],
  judging: DeviceJudging,
): JudgedDevice {
  let state = before ?? NEW_DEVICE
  const made: Made = { facts: [], bytes: 0 }
  for (const entry of entries) {
    const { partition, offset } = entry.origin
    if (offset <= (state.applied[partition] ?? -1)) continue
    const next =
      entry.kind === 'position' ? uneventful(state, entry, judging.definitions) : undefined
    if (next !== undefined) {
      state = next
      continue
    }
    if (isFull(made)) return toPartialResult(state, made)
    let { last } = state
    if (!isWithdrawn(state, entry) && !isBeforeFirstReport(state, entry)) {
      const now = entry.event.receivedAt
      state = letTimePass(state, now, judging, made)
      if (isFull(made)) return toPartialResult(state, made)
      const input = inputOf(state, entry)
      state = judge(state, input, judging, made)
      if (isMove(input)) last = lastJudged(input.position, entry.origin)
    }
    const applied = setOffset(state.applied, entry.origin)
    state = { ...state, applied, ...(last !== undefined && { last }) }
  }
  return { state, facts: made.facts }
}

/** Judges the passing of time up to `now` for a device from which nothing has arrived. */
export function judgeTime(state: FactState, now: number, judging: DeviceJudging): JudgedDevice {
  const made: Made = { facts: [], bytes: 0 }
  const after = letTimePass(state, now, judging, made)
  return isDue(after, now) ? toPartialResult(after, made) : { state: after, facts: made.facts }
}

function isFull({ bytes }: Made): boolean {
  return bytes > MOST_BYTES
}

function toPartialResult(state: FactState, { facts }: Made): JudgedDevice {
  return { state, facts, isPartial: true }
}

function isDue({ due }: FactState, now: number): boolean {
  return due !== null && due <= now
}

/**
 * A state after the settings, geofences or rules have changed: its deadlines are recomputed when it
 * is next judged.
 */
export function judgeSoon(state: FactState, now: number): FactState {
  const { liveness } = state
  if (liveness === undefined) return state
  const due = Math.min(state.due ?? now, now)
  if (liveness.due === null) return { ...state, due }
  return { ...state, liveness: { ...liveness, due: Math.min(liveness.due, now) }, due }
}

/** Up to `now`, unless it stops early. */
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

/** Turns decisions into facts, within the device's budget. */
function judge(before: FactState, input: FactInput, judging: DeviceJudging, made: Made): FactState {
  const { state, decisions } = decide(before, input, judging.definitions)
  if (decisions.length === 0) return state
  let { sequence, budget } = state
  const receivedAt = input.kind === 'time' ? input.at : input.receivedAt
  for (const { decision, inside } of decisions) {
    const left = spend(budget, receivedAt)
    if (left === undefined) {
      budget = budget && countSuppressed(budget)
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
  if (sequence > state.sequence) made.bytes += bytesOfInput(input, decisions)
  return { ...state, sequence, ...(budget !== undefined && { budget }) }
}

/**
 * Takes one fact from a device's budget. The time is that of receipt, not that of this process, so
 * every process that judges the same entries suppresses the same facts. Returns undefined if the
 * budget is used up.
 */
function spend(budget: FactBudget | undefined, at: number): FactBudget | undefined {
  const fullAt = Math.max(budget?.fullAt ?? at, at) + FACT_EVERY_MS
  return fullAt - at > LARGEST_BURST * FACT_EVERY_MS ? undefined : { fullAt }
}

/** The budget after a fact was suppressed. */
function countSuppressed({ fullAt, suppressed = 0 }: FactBudget): FactBudget {
  return { fullAt, suppressed: suppressed + 1 }
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

/** Data shared by the facts of an input is stored once. */
function bytesOfInput(input: FactInput, decisions: Decided['decisions']): number {
  const position = input.kind === 'position' ? jsonSize(input.position) : 0
  const inside = decisions.at(-1)?.inside ?? []
  return position + 30 * Math.min(inside.length, MOST_INSIDE)
}

/** It was received before an erasure that precedes it in the log, or is in another partition. */
function isWithdrawn({ erased }: FactState, { origin, event, spooled }: JudgedEntry): boolean {
  if (erased === undefined || event.receivedAt > erased.at) return false
  return spooled === true || origin.partition !== erased.partition
}

/** A heartbeat before a device's first position is ignored. */
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
  const position: JudgedPosition = addOptionalFields(
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
