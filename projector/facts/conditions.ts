import type { RuleStanding, RuleValue } from '../../schemas/definitions/definitions-state.ts'
import type { DeviceRule } from '../../schemas/definitions/device-rule.ts'
import {
  MEASUREMENTS,
  type Measurement,
  type OptionalFields,
} from '../../schemas/report/report-fields.ts'

/** The state of a device and the values of one input, by which conditions are judged. */
export type Circumstances = {
  /** Undefined: nobody knows. A geofence that is not about the device has it outside. */
  readonly isInside: (geofenceId: string) => boolean | undefined
  readonly isAbout: (geofenceId: string) => boolean
  readonly valueOf: (field: string) => RuleValue | undefined
  readonly isStopped: boolean | undefined
  /** Entries that were received before decide nothing by the rule. */
  readonly inForceSince: (rule: DeviceRule) => number
  /** When the device came to where a rule applies: a stop or a silence begins then at the earliest. */
  readonly hereSince: (rule: DeviceRule) => number
}

/** `undefined`: the input says nothing of the condition. */
export type Verdict = { readonly holds: boolean | undefined; readonly value?: RuleValue }

const SAYS_NOTHING: Verdict = { holds: undefined }
const NO: Verdict = { holds: false }

/** Whether the condition of a rule holds. Once it holds, it does so until the value is beyond `clear`. */
export function judgeCondition(
  { when, geofenceIds }: DeviceRule,
  standing: RuleStanding | undefined,
  { isInside, isAbout, valueOf, isStopped }: Circumstances,
): Verdict {
  if (geofenceIds !== undefined && !geofenceIds.some((id) => isInside(id) === true)) {
    return geofenceIds.some((id) => isInside(id) === undefined) ? SAYS_NOTHING : NO
  }
  if ('inside' in when) return { holds: isInside(when.inside) }
  if ('outside' in when) {
    const isIn = isInside(when.outside)
    return { holds: isAbout(when.outside) && (isIn === undefined ? undefined : !isIn) }
  }
  if ('stopped' in when) return { holds: isStopped }
  // Judged by time, not by inputs.
  if ('silent' in when) return SAYS_NOTHING
  const value = valueOf(when.field)
  if (value === undefined) return SAYS_NOTHING
  if ('is' in when) return { holds: value === when.is, value }
  if (typeof value !== 'number') return SAYS_NOTHING
  const limit = standing === undefined ? undefined : when.clear
  if ('above' in when) return { holds: value > (limit ?? when.above), value }
  return { holds: value < (limit ?? when.below), value }
}

/** Measurements have their own fields, everything else is an attribute. */
export function valueOf(fields: OptionalFields, field: string): RuleValue | undefined {
  if (isMeasurement(field)) return fields[field]
  const { attributes } = fields
  return attributes !== undefined && Object.hasOwn(attributes, field)
    ? attributes[field]
    : undefined
}

function isMeasurement(field: string): field is Measurement {
  return MEASUREMENTS.some((name) => name === field)
}
