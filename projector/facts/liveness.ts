import type { LivenessState } from '../../schemas/facts/fact-state.ts'
import { SILENCE } from '../../schemas/devices/liveness.ts'
import {
  heldUntil,
  type Decision,
  type FactInput,
  type PartJudgement,
  type TimeInput,
} from './part.ts'

export type LivenessDefinitions = Watched & {
  /** The silence after which the device is offline. */
  readonly offlineAfterMs: number
}

export type Watched = {
  /** False for a disabled device and in a suspended account: it never becomes offline or silent. */
  readonly isWatched: boolean
  /** When the device was last enabled, or its account resumed: it counts as heard then. */
  readonly watchedSince?: number | undefined
}

/** A deadline is looked at no later than this, because the settings may have changed while nobody looked. */
const LOOK_AGAIN_MS = 60 * 60 * 1_000

/** How long a device may be silent until it is offline, as its status says. */
export function offlineAfter(expectedIntervalSeconds: number | undefined): number {
  const { longestMs, intervals, leastMs } = SILENCE.idle
  if (expectedIntervalSeconds === undefined) return longestMs
  return Math.max(intervals * 1_000 * expectedIntervalSeconds, leastMs)
}

/** Every report is a sign of life: late ones, repeats and heartbeats too. */
export function judgeLiveness(
  state: LivenessState | undefined,
  input: FactInput,
  definitions: LivenessDefinitions,
): PartJudgement<LivenessState | undefined> {
  if (input.kind === 'time') return silence(state, input, definitions)
  const { receivedAt } = input
  const seenAt = Math.max(state?.seenAt ?? -Infinity, receivedAt)
  if (state !== undefined && !endsSilence(state, receivedAt)) {
    return { state: { ...state, seenAt }, decisions: [], due: state.due }
  }
  const due = lookAt(receivedAt + definitions.offlineAfterMs, receivedAt)
  const online: Decision = {
    type: 'device.online',
    at: receivedAt,
    previous: state === undefined ? null : 'offline',
    ...(input.kind === 'position' && !input.isRepeat && { position: input.position }),
  }
  return { state: { seenAt, due }, decisions: [online], due }
}

/** A report from before the device was found to be offline is late, and does not bring it back. */
function endsSilence({ offlineAt }: LivenessState, receivedAt: number): boolean {
  return offlineAt !== undefined && receivedAt >= offlineAt
}

function silence(
  state: LivenessState | undefined,
  { at, hearing }: TimeInput,
  definitions: LivenessDefinitions,
): PartJudgement<LivenessState | undefined> {
  if (state === undefined || state.offlineAt !== undefined) return nothing(state)
  const { offlineAfterMs, isWatched } = definitions
  const deadline = offlineDeadline(state, definitions)
  const held = heldUntil(hearing, offlineAfterMs)
  if (deadline > at) return waiting(state, lookAt(deadline, hearing.now))
  if (!isWatched) return waiting(state, hearing.now + LOOK_AGAIN_MS)
  if (held !== null) return waiting(state, held)
  return {
    state: { seenAt: state.seenAt, offlineAt: deadline, due: null },
    decisions: [{ type: 'device.offline', at: deadline }],
    due: null,
  }
}

/** When a device is offline if nothing more is heard from it. */
export function offlineDeadline(
  { seenAt }: Pick<LivenessState, 'seenAt'>,
  { offlineAfterMs, watchedSince = 0 }: LivenessDefinitions,
): number {
  return Math.max(seenAt, watchedSince) + offlineAfterMs
}

/** When a deadline is looked at next. */
export function lookAt(deadline: number, now: number): number {
  return Math.min(deadline, now + LOOK_AGAIN_MS)
}

function waiting(state: LivenessState, due: number): PartJudgement<LivenessState> {
  return { state: { ...state, due }, decisions: [], due }
}

function nothing<State>(state: State): PartJudgement<State> {
  return { state, decisions: [], due: null }
}
