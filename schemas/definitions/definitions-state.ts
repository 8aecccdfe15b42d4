import type { Coordinates } from '../geo/distance.ts'
import type { StopPlace } from '../geo/stop-place.ts'
import type { LastPosition } from '../devices/read-models.ts'

/** A device's state for geofences and rules. Times in milliseconds since the epoch. */
export type DefinitionsState = {
  readonly geofences: GeofencesState
  readonly rules: RulesState
}

export type GeofencesState = {
  /** The last position judged. */
  readonly last?: Coordinates & {
    readonly accuracy?: number
    readonly receivedAt: number
    /** Set shortly after a change: when the latest change considered in judging came into force. */
    readonly knew?: number
    /** Set for an inaccurate position: a more accurate one from the seconds before. */
    readonly surer?: Coordinates & { readonly accuracy?: number; readonly receivedAt: number }
  }
  /** Standings by geofence; the device is outside geofences that are absent. */
  readonly standings: Readonly<Record<string, GeofenceStanding>>
}

export type GeofenceStanding = {
  /** `unknown`: it may have been inside when the geofence came into force. */
  readonly side: 'inside' | 'outside' | 'unknown'
  /** Set while the device is inside: when it entered, or null if unknown. */
  readonly since?: number | null
  /** The device is on the other side, and must stay there for a while. */
  readonly wait?: StartedWait
}

/** The input that started something which must last for a while. */
export type StartedWait = {
  /** min(timestamp, receivedAt) of a position, receivedAt of a heartbeat. */
  readonly at: number
  readonly receivedAt: number
  readonly position?: LastPosition
}

export type RulesState = {
  /** Standings by rule; the conditions of absent rules do not hold. */
  readonly standings: Readonly<Record<string, RuleStanding>>
  /** Stored while a rule about stops applies. */
  readonly stop?: StopState
}

export type RuleStanding = {
  readonly revision: number
  /** The condition holds, but not yet for long enough. */
  readonly wait?: StartedWait & { readonly value?: RuleValue }
  readonly raisedAt?: number
}

/** The value by which a rule on a field was judged. */
export type RuleValue = number | string | boolean

export type StopState = {
  /** The last position that counted. */
  readonly last: StopFix
  /** The latest positions that one stop could include; empty during a stop. */
  readonly window: readonly StopFix[]
  /** Set if positions were dropped because there were too many. */
  readonly isThinned?: true
  /** A position that jumped away; the next position may prove it false. */
  readonly leapt?: StopFix
  /** When the last position was last received again. */
  readonly repeatedAt?: number
  /** Whether the last position included its speed. */
  readonly hasSpeed?: true
  readonly stopped?: StopPlace & {
    /** The first position of the stop. */
    readonly first: StopFix
  }
}

/** A position in the form used for finding stops. */
export type StopFix = Coordinates & {
  readonly accuracy?: number
  readonly at: number
  readonly receivedAt: number
}
