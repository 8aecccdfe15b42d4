import type { DefinitionsState } from '../definitions/definitions-state.ts'
import type { Offsets, Origin } from '../devices/read-models.ts'

/** The state of a device from which its next facts are decided. Times in milliseconds. */
export type FactState = {
  /** Sequence number of the device's last fact; 0 if it has none since its last erasure. */
  readonly sequence: number
  /** The last offset judged, per partition. */
  readonly applied: Offsets
  /**
   * When it must be checked again if nothing arrives, on the clock of receivedAt. Never later than
   * its deadlines.
   */
  readonly due: number | null
  /** The last position judged, by its rank in the order of positions. */
  readonly last?: LastJudged
  readonly liveness?: LivenessState
  readonly alarms?: AlarmState
  readonly budget?: FactBudget
  readonly definitions?: DefinitionsState
  readonly erased?: ErasedState
}

export type LastJudged = {
  readonly recordId: string
  readonly timestamp: number
  readonly receivedAt: number
  readonly origin: Origin
}

export type LivenessState = {
  /** The newest sign of life. */
  readonly seenAt: number
  /** Time since which the device is offline. */
  readonly offlineAt?: number
  readonly due: number | null
}

/** A device may cause a limited number of facts in a time. */
export type FactBudget = {
  /** When the whole burst would be available again, by the time of receipt. */
  readonly fullAt: number
  /** The number of decisions suppressed since the last fact. */
  readonly suppressed?: number
}

/** The time of each alarm's last report, by `at` and alarm key. Late reports form separate runs. */
export type AlarmState = {
  readonly onTime: Readonly<Record<string, number>>
  readonly late: Readonly<Record<string, number>>
}

/** The part of the state that remains after an erasure. */
export type ErasedState = {
  /** The event ids of its last erasures. */
  readonly ids: readonly string[]
  readonly at: number
  readonly partition: number
}

/** The erasure that started the device's life; '' before any. */
export function lifeOf({ erased }: FactState): string {
  return erased?.ids.at(-1) ?? ''
}
