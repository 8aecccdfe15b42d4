import { isDeepStrictEqual } from 'node:util'
import { invalidParams } from '../../runtime/errors.ts'
import {
  LEAST_SILENT_SECONDS,
  LONGEST_FOR_SECONDS,
  MOST_RULES,
  type DeviceRule,
  type RuleContent,
} from '../../schemas/definitions/device-rule.ts'
import { unreachableThresholds } from '../../schemas/definitions/rule-threshold.ts'
import type { RuleRefused } from '../../store/definitions.ts'
import { TOO_LARGE } from '../geofences/geofence-refusals.ts'
import { SELECTION_FIELDS } from '../geofences/selection-rules.ts'
import {
  ID,
  optional,
  readOnly,
  required,
  VERSION_FIELDS,
  withDefault,
} from '../http/resource-fields.ts'
import { nameRule } from '../http/name-rule.ts'
import { flag, list, parsedParts, text, wholeNumber } from '../http/rule.ts'
import { parseWhen, WHEN } from './when-rule.ts'

const MOST_GEOFENCES = 100
const GEOFENCES_EXPECTED = `geofenceIds must be a list of 1 to ${MOST_GEOFENCES} different ids of geofences`

export const RULE_FIELDS = {
  id: ID,
  name: required(nameRule('name')),
  when: required(parsedParts(parseWhen, WHEN)),
  forSeconds: withDefault(
    wholeNumber({
      min: 0,
      max: LONGEST_FOR_SECONDS,
      expected: `forSeconds must be a whole number from 0 to ${LONGEST_FOR_SECONDS}`,
    }).described('How long the condition must hold before the rule is raised'),
    0,
  ),
  ...SELECTION_FIELDS,
  geofenceIds: optional(
    list(text({ max: 128, expected: GEOFENCES_EXPECTED }), {
      max: MOST_GEOFENCES,
      expected: GEOFENCES_EXPECTED,
    }).described('The rule applies only inside one of these geofences'),
  ),
  enabled: withDefault(flag('enabled'), true),
  outOfRange: readOnly(
    {
      type: 'boolean',
      description:
        'No report can pass the threshold, or `clear`: the rule is never raised, or never cleared. New rules are refused with 400',
    },
    {
      view: ({ when }: DeviceRule) => unreachableThresholds(when).length > 0 || undefined,
      isOptional: true,
    },
  ),
  ...VERSION_FIELDS,
}

/** @throws {ApiError} 400 for a silence that is no longer than usual between reports. */
export function requireLongSilence({ when, forSeconds }: Pick<RuleContent, 'when' | 'forSeconds'>) {
  if (!('silent' in when) || forSeconds >= LEAST_SILENT_SECONDS) return
  const message = `forSeconds must be at least ${LEAST_SILENT_SECONDS} with silent`
  throw invalidParams([{ field: 'forSeconds', message }])
}

/** @throws {ApiError} 400 for a threshold that no report can pass; a condition stored `before` is not checked again. */
export function requireReachable({ when }: Pick<RuleContent, 'when'>, before?: RuleContent): void {
  if (isDeepStrictEqual(when, before?.when)) return
  const faults = unreachableThresholds(when).map(({ member, field, expected }) => ({
    field: `when.${member}`,
    message: `when.${member} must be a value that ${field} can pass, which is ${expected}`,
  }))
  if (faults.length > 0) throw invalidParams(faults)
}

/** @throws {ApiError} 400 for too many rules, or one about a geofence that does not exist. */
export function requireStoredRule(outcome: DeviceRule | RuleRefused): DeviceRule {
  if (outcome === 'too many rules') {
    const message = `an account has at most ${MOST_RULES} rules: delete some first`
    throw invalidParams([{ field: 'when', message }])
  }
  if (outcome === 'too large') throw invalidParams([{ field: 'when', message: TOO_LARGE }])
  if (!('unknownGeofence' in outcome)) return outcome
  const id = JSON.stringify(outcome.unknownGeofence)
  const message = `when and geofenceIds must name geofences that exist; there is none with the id ${id}`
  throw invalidParams([{ field: 'when', message }])
}
