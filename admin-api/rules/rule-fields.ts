import { isDeepStrictEqual } from 'node:util'
import { ApiError, invalidParams } from '../../runtime/errors.ts'
import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import {
  LEAST_SILENT_SECONDS,
  LONGEST_FOR_SECONDS,
  MOST_RULES,
  type DeviceRule,
  type RuleContent,
} from '../../schemas/definitions/device-rule.ts'
import { unreachableThresholds } from '../../schemas/definitions/rule-threshold.ts'
import type { RuleRefused } from '../../store/definitions.ts'
import { TOO_LARGE } from '../geofences/geofence-view.ts'
import { SELECTION, SELECTION_PROPERTIES, selectionView } from '../geofences/selection-rules.ts'
import type { Caller } from '../http/caller.ts'
import { nameRule } from '../http/name-rule.ts'
import { flag, list, parsedParts, text, wholeNumber, type InputOf } from '../http/rule.ts'
import { isoTime, TIME } from '../http/views.ts'
import { parseWhen, WHEN } from './when-rule.ts'

const MOST_GEOFENCES = 100
const GEOFENCES_EXPECTED = `geofenceIds must be a list of 1 to ${MOST_GEOFENCES} different ids of geofences`

const FIELDS = {
  name: nameRule('name'),
  when: parsedParts(parseWhen, WHEN),
  forSeconds: wholeNumber({
    min: 0,
    max: LONGEST_FOR_SECONDS,
    expected: `forSeconds must be a whole number from 0 to ${LONGEST_FOR_SECONDS}`,
  }).described('How long the condition must hold before the rule is raised'),
  deviceIds: SELECTION.deviceIds,
  labels: SELECTION.labels,
  geofenceIds: list(text({ max: 128, expected: GEOFENCES_EXPECTED }), {
    max: MOST_GEOFENCES,
    expected: GEOFENCES_EXPECTED,
  }).described('The rule applies only inside one of these geofences'),
  enabled: flag('enabled'),
}

export const NEW_RULE = {
  name: FIELDS.name.required(),
  when: FIELDS.when.required(),
  forSeconds: FIELDS.forSeconds.nullIsAbsence().withDefault(0),
  deviceIds: FIELDS.deviceIds.nullIsAbsence(),
  labels: FIELDS.labels.nullIsAbsence(),
  geofenceIds: FIELDS.geofenceIds.nullIsAbsence(),
  enabled: FIELDS.enabled.nullIsAbsence().withDefault(true),
}

/** `null` takes an optional field away. */
export const RULE_CHANGES = {
  name: FIELDS.name,
  when: FIELDS.when,
  forSeconds: FIELDS.forSeconds,
  deviceIds: FIELDS.deviceIds.orNull(),
  labels: FIELDS.labels.orNull(),
  geofenceIds: FIELDS.geofenceIds.orNull(),
  enabled: FIELDS.enabled,
}

export type RuleInput = InputOf<typeof NEW_RULE>
export type RuleChange = InputOf<typeof RULE_CHANGES>

/** The content with these fields changed. */
export function withRuleChange(before: RuleContent, change: RuleChange): RuleContent {
  const changed = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null)
  return Object.fromEntries(changed) as unknown as RuleContent
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

export function requireRule<Found>(found: Found | undefined): Found {
  if (found === undefined) throw new ApiError('NOT_FOUND', 'there is no rule with this id')
  return found
}

export function ruleView(rule: DeviceRule, caller: Caller) {
  const { id, name, when, forSeconds, geofenceIds, enabled, revision, createdAt, changedAt } = rule
  return {
    id,
    name,
    when,
    forSeconds,
    ...selectionView(rule, caller),
    ...(geofenceIds !== undefined && { geofenceIds }),
    enabled,
    ...(unreachableThresholds(when).length > 0 && { outOfRange: true }),
    revision,
    createdAt: isoTime(createdAt),
    changedAt: isoTime(changedAt),
  }
}

export const RULE: JsonSchema = objectOf(
  {
    id: { type: 'string', description: 'ULID' },
    name: { type: 'string' },
    when: WHEN,
    forSeconds: { type: 'integer' },
    deviceIds: SELECTION_PROPERTIES.deviceIds,
    labels: SELECTION_PROPERTIES.labels,
    geofenceIds: { type: 'array', items: { type: 'string' } },
    enabled: { type: 'boolean' },
    outOfRange: {
      type: 'boolean',
      description:
        'No report can pass the threshold, or `clear`: the rule is never raised, or never cleared. New rules are refused with 400',
    },
    revision: { type: 'integer', description: 'Grows with every change' },
    createdAt: TIME,
    changedAt: TIME,
  },
  { title: 'Rule', optional: ['deviceIds', 'labels', 'geofenceIds', 'outOfRange'] },
)
