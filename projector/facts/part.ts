import type { FactDetails } from '../../schemas/facts/facts.ts'
import type { LastPosition } from '../../schemas/devices/read-models.ts'
import type { Telemetry } from '../../schemas/report/report-fields.ts'

/** A position as it is judged. */
export type JudgedPosition = LastPosition

/** An entry of the log that counts, or that time has passed for the device. Times in milliseconds since the epoch. */
export type FactInput = PositionInput | HeartbeatInput | TimeInput

export type PositionInput = {
  readonly kind: 'position'
  readonly position: JudgedPosition
  /** It precedes the last judged position; of a repeat: it is not a repeat of that one. */
  readonly isLate: boolean
  /** Its record exists already, made by another event. */
  readonly isRepeat: boolean
  readonly receivedAt: number
}

export type HeartbeatInput = Telemetry & {
  readonly kind: 'heartbeat'
  readonly receivedAt: number
}

/** `at` has passed for this device: it is a `due` time. */
export type TimeInput = {
  readonly kind: 'time'
  readonly at: number
  readonly hearing: Hearing
}

/** Whether the service could hear devices, so that their silence means something. */
export type Hearing = {
  /** The time it is looked at: the receivedAt of the next entry, or as far as everything has been judged. */
  readonly now: number
  /** Since when reports have been received without interruption; `Infinity`: they are not being received. */
  readonly since: number
  /** FACTS_GRACE_SECONDS: silences are judged only after listening for this long, or for the silence's own length. */
  readonly graceMs: number
}

/** A decision of a part; `judge` adds id, sequence and the rest. */
export type Decision = FactDetails & {
  readonly at: number
  readonly position?: JudgedPosition
}

/** The verdict of a part on an input; `due`: the next time, on the clock of receivedAt, at which the part wants a `time` input. */
export type PartJudgement<State> = {
  readonly state: State
  readonly decisions: readonly Decision[]
  readonly due: number | null
}

/** When a part that decides from a silence of `silenceMs` must ask again, because it cannot know; null: it can decide. */
export function heldUntil({ now, since, graceMs }: Hearing, silenceMs: number): number | null {
  const from = since + Math.min(silenceMs, graceMs)
  if (now >= from) return null
  return from === Infinity ? now + ASK_AGAIN_MS : from
}

const ASK_AGAIN_MS = 10_000
