import type { FieldRevisions } from './field-revisions.ts'
import type { DeviceSelection } from './selection.ts'

export const MOST_RULES = 200
export const LONGEST_FOR_SECONDS = 604_800
/** Shorter silences are usual between reports. */
export const LEAST_SILENT_SECONDS = 10
/** The radius within which a stopped device stays, and for how long, as for trips. */
export const STOPPED = { stopMetres: 100, stopMs: 300_000 } as const

/** The condition of a rule. */
export type When =
  | { readonly field: string; readonly above: number; readonly clear?: number }
  | { readonly field: string; readonly below: number; readonly clear?: number }
  | { readonly field: string; readonly is: string | boolean }
  | { readonly inside: string }
  | { readonly outside: string }
  | { readonly stopped: true }
  | { readonly silent: true }

/** The fields of a rule that operators set. */
export type RuleContent = DeviceSelection & {
  readonly name: string
  readonly when: When
  /** How long the condition must hold before it is raised. */
  readonly forSeconds: number
  /** The rule applies only inside one of these geofences. */
  readonly geofenceIds?: readonly string[]
  readonly enabled: boolean
}

/** A rule about devices. Times in milliseconds since the epoch. */
export type DeviceRule = RuleContent & {
  readonly id: string
  readonly accountId: string
  readonly createdAt: number
  /** Increases with every change, which resets the state of the condition. */
  readonly revision: number
  readonly changedIn?: FieldRevisions
  /** When an operator last changed the rule. */
  readonly changedAt: number
}

/** A rule as named in a fact. */
export type NamedRule = Pick<DeviceRule, 'id' | 'name' | 'revision'>

export function pickRuleName({ id, name, revision }: NamedRule): NamedRule {
  return { id, name, revision }
}

/** The geofences that a rule names. */
export function geofencesOf({ when, geofenceIds = [] }: Pick<RuleContent, 'when' | 'geofenceIds'>) {
  if ('inside' in when) return [when.inside, ...geofenceIds]
  if ('outside' in when) return [when.outside, ...geofenceIds]
  return geofenceIds
}
