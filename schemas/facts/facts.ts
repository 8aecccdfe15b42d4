import { hash } from 'node:crypto'
import type { RuleValue } from '../definitions/definitions-state.ts'
import type { NamedRule } from '../definitions/device-rule.ts'
import type { NamedGeofence } from '../definitions/geofence.ts'
import type { LastPosition } from '../devices/read-models.ts'
import { ulid } from '../events/record-id.ts'

export { FACT_TYPES, type FactType } from './types.ts'

/** Fields specific to some fact types. */
export type FactDetails =
  | { readonly type: 'device.online'; readonly previous: 'offline' | null }
  | { readonly type: 'device.offline' }
  | { readonly type: 'geofence.entered'; readonly geofence: NamedGeofence }
  | {
      readonly type: 'geofence.left'
      readonly geofence: NamedGeofence
      /** Null if the device was inside when the geofence came into force. */
      readonly enteredAt: number | null
      readonly seconds: number | null
    }
  | { readonly type: 'rule.raised'; readonly rule: NamedRule; readonly value?: RuleValue }
  | {
      readonly type: 'rule.cleared'
      readonly rule: NamedRule
      readonly value?: RuleValue
      readonly raisedAt: number
      readonly seconds: number
    }
  | { readonly type: 'alarm.reported'; readonly alarm: string; readonly late: boolean }

/** Something that happened to a device, decided once. Times in milliseconds since the epoch. */
export type DeviceFact = FactDetails & {
  /** ULID, the same for every process that makes this decision. */
  readonly id: string
  /** Numbers a device's facts without gaps, from 1; after an erasure from 1 again. */
  readonly sequence: number
  readonly accountId: string
  readonly deviceId: string
  readonly at: number
  readonly decidedAt: number
  readonly position?: LastPosition
  /**
   * The ids of the geofences that the device is in after this fact, at most 100: the last ones
   * entered.
   */
  readonly inside: readonly string[]
  /**
   * The number of decisions suppressed just before this one, because the device causes too many.
   */
  readonly suppressed?: number
}

/**
 * The id of a fact in a device's life (named by the erasure that started it). Its time is `at`, the
 * rest is a hash. It is unique, because each sequence occurs once in a life; and every process that
 * makes the decision derives the same id, because the sequence is stored together with the state on
 * which the decision is based.
 */
export function factId(
  fact: FactDetails & Pick<DeviceFact, 'accountId' | 'deviceId' | 'sequence' | 'at'>,
  life: string,
): string {
  const { accountId, deviceId, sequence, type, at } = fact
  const about = 'alarm' in fact ? fact.alarm : (definitionIdOf(fact) ?? '')
  const decided = JSON.stringify([accountId, deviceId, life, sequence, type, about])
  return ulid(at, Buffer.from(hash('sha256', decided, 'hex'), 'hex'))
}

/** The geofence or rule that a fact is about. */
export function definitionIdOf(fact: FactDetails): string | undefined {
  if ('geofence' in fact) return fact.geofence.id
  return 'rule' in fact ? fact.rule.id : undefined
}
