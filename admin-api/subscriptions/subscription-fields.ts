import { invalidParams, type ApiError } from '../../runtime/errors.ts'
import type { OutboundNetworks } from '../../runtime/outbound/outbound-url.ts'
import { FACT_TYPES } from '../../schemas/facts/facts.ts'
import {
  MOST_SUBSCRIPTIONS,
  SOURCES,
  type DeviceSubscription,
  type SubscriptionContent,
} from '../../schemas/subscriptions/subscription.ts'
import type { TooLarge } from '../../store/definitions.ts'
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
import { choice, list, parsedParts, text, wholeNumber } from '../http/rule.ts'
import { HOURS, parseHours } from './parse-hours.ts'
import { TARGET, targetParser } from './parse-target.ts'
import { PROGRESS_FIELDS } from './progress-fields.ts'
import { SHOWN_TARGET, targetView } from './shown-target.ts'

const MOST_IDS = 100
const TYPES_EXPECTED = `types must be a list of ${FACT_TYPES.join(', ')}`

/** `networks`: what targets may reach besides the public Internet. */
export function subscriptionFields(networks: OutboundNetworks) {
  return {
    id: ID,
    name: required(nameRule('name')),
    source: {
      shown: { enum: [...SOURCES] },
      created: choice(SOURCES, { expected: `source must be ${SOURCES.join(' or ')}` }).required(),
    },
    types: optional(
      list(choice(FACT_TYPES, { expected: TYPES_EXPECTED }), { expected: TYPES_EXPECTED }),
    ),
    ...SELECTION_FIELDS,
    geofenceIds: optional(
      idsRule('geofenceIds', 'geofences').described(
        'Only facts about one of these, or of a device that is in one',
      ),
    ),
    ruleIds: optional(idsRule('ruleIds', 'rules').described('Only facts about one of these')),
    hours: optional(parsedParts(parseHours, HOURS), { shown: { ...HOURS, title: 'Hours' } }),
    everySeconds: withDefault(
      secondsRule('everySeconds', { min: 0, max: 3_600 }).described(
        'The least time between two deliveries',
      ),
      0,
    ),
    maxAgeSeconds: optional(
      secondsRule('maxAgeSeconds', { min: 1, max: 30 * 86_400 }).described(
        'Older items are skipped: by default none, in mails and chats those older than an hour',
      ),
    ),
    start: {
      created: placeRule('start')
        .nullIsAbsence()
        .withDefault('now')
        .described('Where it begins: `now`, `start`, a mark of the feed, or a time'),
    },
    target: required(parsedParts(targetParser(networks), TARGET), {
      shown: SHOWN_TARGET,
      view: targetView,
    }),
    ...PROGRESS_FIELDS,
    ...VERSION_FIELDS,
    secret: readOnly(
      {
        type: 'string',
        description: 'Of a webhook: the secret that signs its requests. Shown only in this answer',
      },
      { isSecret: true, isOptional: true },
    ),
  }
}

/** `secret`: in the answer that shows it. */
export type ShownSubscription = DeviceSubscription & { readonly secret?: string }

/** Where reading a feed begins. */
export function placeRule(field: string) {
  const expected = `${field} must be start, now, a mark of this feed or an ISO 8601 date and time`
  return text({ max: 12_000, expected })
}

function idsRule(field: string, what: string) {
  const expected = `${field} must be a list of 1 to ${MOST_IDS} different ids of ${what}`
  return list(text({ max: 128, expected }), { max: MOST_IDS, expected })
}

function secondsRule(field: string, { min, max }: { readonly min: number; readonly max: number }) {
  const expected = `${field} must be a whole number from ${min} to ${max}`
  return wholeNumber({ min, max, expected })
}

/** @throws {ApiError} 400 for fields that do not go together. */
export function requireFitting({
  source,
  types,
  geofenceIds,
  ruleIds,
  target,
}: Pick<SubscriptionContent, 'source' | 'types' | 'geofenceIds' | 'ruleIds'> & {
  readonly target: { readonly kind: string }
}): void {
  if (source === 'facts') return
  const given = Object.entries({ types, geofenceIds, ruleIds })
  const faults = given
    .filter(([, value]) => value !== undefined)
    .map(([field]) => ({ field, message: `${field} is about facts, not about positions` }))
  if (target.kind !== 'webhook') {
    const message = `target.kind ${target.kind} takes facts; positions go to a webhook`
    faults.push({ field: 'target.kind', message })
  }
  if (faults.length > 0) throw invalidParams(faults)
}

/** @throws {ApiError} 400 for too many, or definitions that are too large. */
export function requireStoredSubscription(outcome: 'stored' | 'too many' | TooLarge): void {
  if (outcome === 'stored') return
  if (outcome === 'too large') throw tooLargeSubscription()
  const message = `an account has at most ${MOST_SUBSCRIPTIONS} subscriptions: delete some first`
  throw invalidParams([{ field: 'name', message }])
}

export function tooLargeSubscription(): ApiError {
  return invalidParams([{ field: 'name', message: TOO_LARGE }])
}
