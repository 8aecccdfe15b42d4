import type { RuleValue, StartedWait } from '../../schemas/definitions/definitions-state.ts'
import type { DeviceRule } from '../../schemas/definitions/device-rule.ts'
import type { Geofence } from '../../schemas/definitions/geofence.ts'
import type { LastPosition } from '../../schemas/devices/read-models.ts'
import type { FactState } from '../../schemas/facts/fact-state.ts'
import type { FactDetails } from '../../schemas/facts/facts.ts'
import type { GeofenceIndex } from '../../schemas/geo/geofence-index.ts'
import type { Telemetry } from '../../schemas/report/report-fields.ts'

/**
 * Decides from a device's state and an input, after the deciders before it in the list of
 * `decide.ts`. Pure.
 */
export type Decider = (state: FactState, input: FactInput, by: DeviceDefinitions) => Judged

export type Judged<State = FactState> = {
  readonly state: State
  readonly decisions: readonly Decision[]
}

/** `judge.ts` adds the id, the sequence and the other common fields. */
export type Decision = FactDetails & {
  readonly at: number
  readonly position?: JudgedPosition
}

/** The definitions by which a device is judged. */
export type DeviceDefinitions = {
  /** The silence after which a device counts as offline. */
  readonly offlineAfterMs: number
  /**
   * False for disabled devices and in suspended accounts: such devices never become offline or
   * silent.
   */
  readonly isWatched: boolean
  /**
   * When the device was last enabled, or its account reinstated: its silence counts from then at
   * the earliest.
   */
  readonly watchedSince?: number
  readonly geofences: GeofenceDefinitions
  /** The enabled rules about the device. */
  readonly rules: readonly DeviceRule[]
}

/** The geofences of an account that apply to one device. */
export type GeofenceDefinitions = {
  readonly index: GeofenceIndex
  readonly applies: (geofence: Geofence) => boolean
  /** When the device's labels last changed. */
  readonly selectedSince: number
}

/** A position as it is judged. */
export type JudgedPosition = LastPosition

/**
 * An input: an entry of the log that counts, or time passing for the device. Times in milliseconds
 * since the epoch.
 */
export type FactInput = PositionInput | HeartbeatInput | TimeInput

export type PositionInput = {
  readonly kind: 'position'
  readonly position: JudgedPosition
  /** It precedes the last judged position; a repeat: it does not repeat that position. */
  readonly isLate: boolean
  /** Whether the record already exists, from another event. */
  readonly isRepeat: boolean
  readonly receivedAt: number
}

export type HeartbeatInput = Telemetry & {
  readonly kind: 'heartbeat'
  readonly receivedAt: number
}

/** The device's time has advanced to `at`, which is a `due` time. */
export type TimeInput = {
  readonly kind: 'time'
  readonly at: number
  readonly hearing: Hearing
}

/** Whether the service could receive reports, so that a device's silence means something. */
export type Hearing = {
  /**
   * The current time for this judgement: the receivedAt of the next entry, or the time up to which
   * everything has been judged.
   */
  readonly now: number
  /**
   * Time since which reports have been received without interruption; `Infinity` while reception is
   * interrupted.
   */
  readonly since: number
  /**
   * FACTS_GRACE_SECONDS: a silence is judged only after receiving reports for this long, or for the
   * length of the silence itself.
   */
  readonly graceMs: number
}

/**
 * Something that must last for `seconds` before it is decided: a device's side of a geofence, or a
 * rule's condition.
 */
export type Wait = {
  readonly of: 'geofence' | 'rule'
  readonly id: string
  readonly start: StartedWait & { readonly value?: RuleValue }
  readonly seconds: number
}

const NO_DECISIONS: readonly Decision[] = []

export function keepState<State>(state: State): Judged<State> {
  return { state, decisions: NO_DECISIONS }
}

/** A position that moves its device: neither late nor a repeat. */
export function isMove(
  input: FactInput,
): input is PositionInput & { readonly isLate: false; readonly isRepeat: false } {
  return input.kind === 'position' && !input.isLate && !input.isRepeat
}

/**
 * Returns the time of a sign of life, which ends a silence, and the position if this input has one.
 */
export function signOfLife(input: PositionInput | HeartbeatInput): StartedWait {
  const { receivedAt } = input
  if (input.kind === 'heartbeat' || input.isRepeat) return { at: receivedAt, receivedAt }
  return { at: receivedAt, receivedAt, position: input.position }
}

export function pickEarlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}
