import { MEASUREMENT_FIELDS } from '../report/report-fields.ts'
import type { When } from './device-rule.ts'

/** The member of a condition that its field cannot pass, and the values that the field has. */
export type UnreachableThreshold = {
  readonly member: 'above' | 'below' | 'clear'
  readonly field: string
  readonly expected: string
}

/**
 * Thresholds that no report can pass, so that the rule would never be raised, always hold, or never be cleared:
 * mostly ones in another unit. Attributes have no range.
 */
export function unreachableThresholds(when: When): readonly UnreachableThreshold[] {
  if (!('field' in when) || 'is' in when) return []
  const known = MEASUREMENT_FIELDS.find(({ name }) => name === when.field)
  if (known === undefined) return []
  const { name: field, expected } = known
  const [least, greatest] = known.range
  const { clear } = when
  const isAbove = 'above' in when
  const member = isAbove ? 'above' : 'below'
  const isReachable = isAbove
    ? when.above >= least && when.above < greatest
    : when.below > least && when.below <= greatest
  const isCleared = clear === undefined || (isAbove ? clear >= least : clear <= greatest)
  return [
    ...(isReachable ? [] : [{ member, field, expected } as const]),
    ...(isCleared ? [] : [{ member: 'clear', field, expected } as const]),
  ]
}
