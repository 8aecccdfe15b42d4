import { ApiError, invalidParams } from '../../runtime/errors.ts'
import type { OutboundNetworks } from '../../runtime/outbound/outbound-url.ts'
import { FACT_TYPES } from '../../schemas/facts/facts.ts'
import {
  MOST_SUBSCRIPTIONS,
  SOURCES,
  type SubscriptionContent,
} from '../../schemas/subscriptions/subscription.ts'
import type { TooLarge } from '../../store/definitions.ts'
import { TOO_LARGE } from '../geofences/geofence-refusals.ts'
import { SELECTION } from '../geofences/selection-rules.ts'
import { nameRule } from '../http/name-rule.ts'
import { choice, list, parsedParts, text, wholeNumber, type InputOf } from '../http/rule.ts'
import { HOURS, parseHours } from './parse-hours.ts'
import { TARGET, targetParser } from './parse-target.ts'

const MOST_IDS = 100
const LONGEST_PAUSE_SECONDS = 3_600
const LONGEST_AGE_SECONDS = 30 * 86_400

/** The rules of a subscription's fields. */
export function subscriptionFields(networks: OutboundNetworks) {
  const ids = (name: string, what: string) => {
    const expected = `${name} must be a list of 1 to ${MOST_IDS} different ids of ${what}`
    return list(text({ max: 128, expected }), { max: MOST_IDS, expected })
  }
  const typesExpected = `types must be a list of ${FACT_TYPES.join(', ')}`
  const fields = {
    name: nameRule('name'),
    types: list(choice(FACT_TYPES, { expected: typesExpected }), { expected: typesExpected }),
    deviceIds: SELECTION.deviceIds,
    labels: SELECTION.labels,
    geofenceIds: ids('geofenceIds', 'geofences').described(
      'Only facts about one of these, or of a device that is in one',
    ),
    ruleIds: ids('ruleIds', 'rules').described('Only facts about one of these'),
    hours: parsedParts(parseHours, HOURS),
    everySeconds: wholeNumber({
      min: 0,
      max: LONGEST_PAUSE_SECONDS,
      expected: `everySeconds must be a whole number from 0 to ${LONGEST_PAUSE_SECONDS}`,
    }).described('The least time between two deliveries'),
    maxAgeSeconds: wholeNumber({
      min: 1,
      max: LONGEST_AGE_SECONDS,
      expected: `maxAgeSeconds must be a whole number from 1 to ${LONGEST_AGE_SECONDS}`,
    }).described(
      'Older items are skipped: by default none, in mails and chats those older than an hour',
    ),
    target: parsedParts(targetParser(networks), TARGET),
  }
  const optional = {
    types: fields.types,
    deviceIds: fields.deviceIds,
    labels: fields.labels,
    geofenceIds: fields.geofenceIds,
    ruleIds: fields.ruleIds,
    hours: fields.hours,
    maxAgeSeconds: fields.maxAgeSeconds,
  }
  const placeExpected = 'must be start, now, a mark of this feed or an ISO 8601 date and time'
  return {
    created: {
      name: fields.name.required(),
      source: choice(SOURCES, { expected: `source must be ${SOURCES.join(' or ')}` }).required(),
      types: optional.types.nullIsAbsence(),
      deviceIds: optional.deviceIds.nullIsAbsence(),
      labels: optional.labels.nullIsAbsence(),
      geofenceIds: optional.geofenceIds.nullIsAbsence(),
      ruleIds: optional.ruleIds.nullIsAbsence(),
      hours: optional.hours.nullIsAbsence(),
      everySeconds: fields.everySeconds.nullIsAbsence().withDefault(0),
      maxAgeSeconds: optional.maxAgeSeconds.nullIsAbsence(),
      start: text({ max: 12_000, expected: `start ${placeExpected}` })
        .nullIsAbsence()
        .withDefault('now')
        .described('Where it begins: `now`, `start`, a mark of the feed, or a time'),
      target: fields.target.required(),
    },
    changed: {
      name: fields.name,
      types: optional.types.orNull(),
      deviceIds: optional.deviceIds.orNull(),
      labels: optional.labels.orNull(),
      geofenceIds: optional.geofenceIds.orNull(),
      ruleIds: optional.ruleIds.orNull(),
      hours: optional.hours.orNull(),
      everySeconds: fields.everySeconds,
      maxAgeSeconds: optional.maxAgeSeconds.orNull(),
      target: fields.target,
    },
    rewound: {
      to: text({ max: 12_000, expected: `to ${placeExpected}` }).required(),
    },
  }
}

export type SubscriptionFields = ReturnType<typeof subscriptionFields>
export type SubscriptionInput = InputOf<SubscriptionFields['created']>
export type SubscriptionChange = InputOf<SubscriptionFields['changed']>

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

export function requireSubscription<Found>(found: Found | undefined): Found {
  if (found === undefined) throw new ApiError('NOT_FOUND', 'there is no subscription with this id')
  return found
}
