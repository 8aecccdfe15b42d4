import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../runtime/clock.ts'
import { invalidParams } from '../../runtime/errors.ts'
import {
  LEAST_SILENT_SECONDS,
  LONGEST_FOR_SECONDS,
  MOST_RULES,
  type RuleContent,
  type DeviceRule,
  type When,
} from '../../schemas/definitions/device-rule.ts'
import { MEASUREMENT_FIELDS } from '../../schemas/report/report-fields.ts'
import type { RuleRefused } from '../../store/definitions.ts'
import type { Store } from '../../store/store.ts'
import { devicesWithRoute } from '../devices/devices-with.ts'
import { TOO_LARGE } from '../geofences/geofence-rules.ts'
import { SELECTION_FIELDS } from '../geofences/selection-rules.ts'
import type { AdminRoute } from '../http/admin-route.ts'
import { nameRule } from '../http/name-rule.ts'
import {
  changeContent,
  ID,
  optional,
  readOnly,
  required,
  VERSION_FIELDS,
  withDefault,
} from '../http/resource-fields.ts'
import { resource, type InAccount } from '../http/resource.ts'
import { flag, list, parsedParts, text, wholeNumber } from '../http/rule.ts'
import { parseWhen, WHEN } from './when-rule.ts'

/** Calls on rules: device conditions whose start and end become facts. */
export function ruleRoutes({ store, clock }: { store: Store; clock: Clock }): AdminRoute[] {
  const rules = resource({
    kind: 'rule',
    fields: RULE_FIELDS,
    find: (query: InAccount) => store.findRule(query),
    reads: { needs: 'viewer', scope: 'devices:read' },
    writes: { needs: 'dispatcher' },
    namesDevices: true,
    bodyLimitBytes: 1024 * 1024,
    store,
    clock,
  })

  return [
    rules.list({
      summary: 'Lists rules, newest first',
      page: (query) => store.pageRules(query),
    }),
    rules.create({
      summary: 'Creates a rule',
      description: DESCRIPTION,
      bodyExample: {
        name: 'Too fast',
        when: { field: 'speed', above: 36, clear: 33 },
        forSeconds: 60,
        labels: ['night shift'],
      },
      async make({ body, ...own }) {
        requireLongSilence(body)
        requireReachable(body)
        return requireStoredRule(await store.createRule({ ...body, ...own }))
      },
    }),
    rules.show({ summary: 'Returns a rule' }),
    devicesWithRoute({
      path: '/rules/:id/devices',
      summary: 'Lists the devices for which a rule is raised, and since when',
      definitionOf: async (ctx, caller) => ({ ruleId: (await rules.findOne(ctx, caller)).id }),
      store,
    }),
    rules.change({
      summary: 'Changes a rule',
      description:
        '`null` removes an optional field. A change resets the condition, without events.',
      bodyExample: { forSeconds: 120 },
      async change({ accountId, id, body, requireSeen }) {
        const next = (before: DeviceRule) => {
          requireSeen(before)
          const changed = changeContent<RuleContent>(before, body)
          requireLongSilence(changed)
          requireReachable(changed, before)
          return changed
        }
        const outcome = await store.changeRule({ accountId, id, changedAt: clock.now(), next })
        return outcome && requireStoredRule(outcome)
      },
    }),
    rules.remove({
      summary: 'Deletes a rule',
      remove: (query) => store.deleteRule({ ...query, deletedAt: clock.now() }),
    }),
  ]
}

const DESCRIPTION = `
A rule is **raised** for a device once its condition has held for \`forSeconds\`, and **cleared** by the first input for which
it no longer holds. \`stopped\` finds stops as trips do, and those of trackers that sleep or repeat their last position; a
device that has stopped has the speed 0 if it reports none. \`silent\` needs a \`forSeconds\` of at least 10. Changes apply
within 5 s.
`.trim()

const MOST_GEOFENCES = 100
const GEOFENCES_EXPECTED = `geofenceIds must be a list of 1 to ${MOST_GEOFENCES} different ids of geofences`

const RULE_FIELDS = {
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
        'No report can pass the threshold, or `clear`: the rule is never raised, or never cleared. New rules are rejected with 400',
    },
    {
      view: ({ when }: DeviceRule) => findUnreachableThresholds(when).length > 0 || undefined,
      isOptional: true,
    },
  ),
  ...VERSION_FIELDS,
}

/** @throws {ApiError} 400 for a silence no longer than the usual interval between reports. */
function requireLongSilence({ when, forSeconds }: Pick<RuleContent, 'when' | 'forSeconds'>) {
  if (!('silent' in when) || forSeconds >= LEAST_SILENT_SECONDS) return
  const message = `forSeconds must be at least ${LEAST_SILENT_SECONDS} with silent`
  throw invalidParams([{ field: 'forSeconds', message }])
}

/**
 * @throws {ApiError} 400 for a threshold that no report can pass; a condition already stored
 * (`before`) is not checked again.
 */
function requireReachable({ when }: Pick<RuleContent, 'when'>, before?: RuleContent): void {
  if (isDeepStrictEqual(when, before?.when)) return
  const faults = findUnreachableThresholds(when).map(({ member, field, expected }) => ({
    field: `when.${member}`,
    message: `when.${member} must be a value that ${field} can pass, which is ${expected}`,
  }))
  if (faults.length > 0) throw invalidParams(faults)
}

/** @throws {ApiError} 400 for too many rules, or a rule about a geofence that does not exist. */
function requireStoredRule(outcome: DeviceRule | RuleRefused): DeviceRule {
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

/** A threshold that its field's value can never cross, with the field's possible values. */
type UnreachableThreshold = {
  readonly member: 'above' | 'below' | 'clear'
  readonly field: string
  readonly expected: string
}

/**
 * Thresholds that no report can pass, so that the rule would never be raised, always hold, or never
 * be cleared: usually in the wrong unit. Attributes have no range.
 */
function findUnreachableThresholds(when: When): readonly UnreachableThreshold[] {
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
