import { ApiError, invalidParams, type Fault } from '../../runtime/errors.ts'
import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import type { OutboundNetworks } from '../../runtime/outbound/outbound-url.ts'
import { FACT_TYPES } from '../../schemas/facts.ts'
import { fieldPath } from '../../schemas/field-path.ts'
import { isTimeZone } from '../../schemas/geo/local-time.ts'
import {
  MOST_SUBSCRIPTIONS,
  SOURCES,
  SUBSCRIPTION_STATES,
  subscriptionState,
  type DeviceSubscription,
  type Hours,
  type SubscriptionContent,
} from '../../schemas/subscription.ts'
import { SELECTION, SELECTION_PROPERTIES, selectionView } from '../geofences/selection-rules.ts'
import type { Caller } from '../http/caller.ts'
import { nameRule } from '../http/name-rule.ts'
import { choice, list, parsedParts, text, wholeNumber, type InputOf } from '../http/rule.ts'
import { isoTime, TIME } from '../http/views.ts'
import { TARGET, targetParser } from './parse-target.ts'

const MOST_IDS = 100
const LONGEST_PAUSE_SECONDS = 3_600
const LONGEST_AGE_SECONDS = 30 * 86_400
const HOURS: JsonSchema = objectOf(
  {
    days: {
      type: 'array',
      items: { type: 'integer', minimum: 1, maximum: 7 },
      minItems: 1,
      maxItems: 7,
      description: '1: Monday',
    },
    from: { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' },
    to: {
      type: 'string',
      pattern: '^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$',
      description: 'Before `from`: of the next day, and part of the day on which it begins',
    },
    zone: { type: 'string', description: 'IANA, `Europe/Berlin`' },
  },
  { description: 'Only what happens within them is sent' },
)

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

export function tooManySubscriptions(): ApiError {
  const message = `an account has at most ${MOST_SUBSCRIPTIONS} subscriptions: delete some first`
  return invalidParams([{ field: 'name', message }])
}

export function requireSubscription<Found>(found: Found | undefined): Found {
  if (found === undefined) throw new ApiError('NOT_FOUND', 'there is no subscription with this id')
  return found
}

function parseHours(
  value: unknown,
  field: string,
): { readonly made: Hours } | { readonly faults: readonly Fault[] } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return {
      faults: [{ field, message: `${field} must be an object with days, from, to and zone` }],
    }
  }
  const { days, from, to, zone, ...others } = value as Record<string, unknown>
  const faults = Object.keys(others).map((name) => {
    const at = fieldPath([field, name])
    return { field: at, message: `${at} is unknown: ${field} takes days, from, to and zone` }
  })
  const requireThat = (fits: boolean, name: string, expected: string) => {
    const at = `${field}.${name}`
    if (!fits) faults.push({ field: at, message: `${at} must be ${expected}` })
  }
  requireThat(areDays(days), 'days', 'a list of different days, from 1 (Monday) to 7')
  requireThat(isTime(from), 'from', 'a time of day, HH:MM')
  const isEnd = to === '24:00' || isTime(to)
  requireThat(isEnd && to !== from, 'to', 'a time of day, HH:MM, other than from')
  const isZone = typeof zone === 'string' && isTimeZone(zone)
  requireThat(isZone, 'zone', 'the name of a time zone, such as Europe/Berlin')
  return faults.length > 0 ? { faults } : { made: { days, from, to, zone } as Hours }
}

function areDays(days: unknown): boolean {
  return (
    Array.isArray(days) &&
    days.length > 0 &&
    new Set(days).size === days.length &&
    days.every((day) => Number.isInteger(day) && day >= 1 && day <= 7)
  )
}

function isTime(text: unknown): text is string {
  return typeof text === 'string' && /^([01]\d|2[0-3]):[0-5]\d$/.test(text)
}

export function subscriptionView(subscription: DeviceSubscription, caller: Caller) {
  const { id, name, source, types, geofenceIds, ruleIds, hours, everySeconds } = subscription
  const { maxAgeSeconds, target, progress, revision, createdAt, changedAt } = subscription
  const { failingSince, lastError, attempt, succeededAt, setAside, mark, waiting } = progress
  return {
    id,
    name,
    source,
    ...(types !== undefined && { types }),
    ...selectionView(subscription, caller),
    ...(geofenceIds !== undefined && { geofenceIds }),
    ...(ruleIds !== undefined && { ruleIds }),
    ...(hours !== undefined && { hours }),
    everySeconds,
    ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
    target,
    // Nobody of a suspended account may ask.
    state: subscriptionState(subscription, { suspended: false }),
    ...(failingSince !== undefined && { failingSince: isoTime(failingSince) }),
    ...(failingSince !== undefined && lastError !== undefined && { lastError }),
    ...(attempt !== undefined && { nextAttemptAt: isoTime(attempt.nextAt) }),
    ...(succeededAt !== undefined && { lastDeliveredAt: isoTime(succeededAt) }),
    ...(waiting !== undefined && { waiting: { count: waiting.count, more: waiting.more } }),
    mark,
    setAside: setAside.map(({ id, at, status }) => ({ id, at: isoTime(at), status })),
    revision,
    createdAt: isoTime(createdAt),
    changedAt: isoTime(changedAt),
  }
}

const PROPERTIES = {
  id: { type: 'string', description: 'ULID' },
  name: { type: 'string' },
  source: { enum: [...SOURCES] },
  types: { type: 'array', items: { type: 'string' } },
  deviceIds: SELECTION_PROPERTIES.deviceIds,
  labels: SELECTION_PROPERTIES.labels,
  geofenceIds: { type: 'array', items: { type: 'string' } },
  ruleIds: { type: 'array', items: { type: 'string' } },
  hours: { ...HOURS, title: 'Hours' },
  everySeconds: { type: 'integer' },
  maxAgeSeconds: { type: 'integer' },
  target: objectOf(
    {
      kind: { type: 'string' },
      url: { type: 'string', description: 'Scheme and host alone' },
      batch: { type: 'integer' },
      chatId: { type: 'string' },
      to: { type: 'array', items: { type: 'string' } },
    },
    {
      title: 'ShownTarget',
      optional: ['url', 'batch', 'chatId', 'to'],
      description: 'Without its secrets',
    },
  ),
  state: {
    enum: [...SUBSCRIPTION_STATES],
    description: '`paused`: the account is suspended; the metrics alone show it',
  },
  failingSince: TIME,
  lastError: { type: 'string', description: 'Why the last attempt failed' },
  nextAttemptAt: TIME,
  lastDeliveredAt: TIME,
  waiting: objectOf(
    {
      count: { type: 'integer', description: 'Counted each minute, up to about 10 000' },
      more: { type: 'boolean', description: 'Whether more wait than were counted' },
    },
    {
      title: 'WaitingItems',
      description: 'The items that wait while it fails or is disabled; absent: none are known',
    },
  ),
  mark: { type: 'string', description: 'How far it has come in the feed' },
  setAside: {
    type: 'array',
    description: 'Items that the receiver refused three times, the newest 100',
    items: objectOf(
      { id: { type: 'string' }, at: TIME, status: { type: 'integer' } },
      { title: 'SetAsideItem' },
    ),
  },
  revision: { type: 'integer', description: 'Grows with every change' },
  createdAt: TIME,
  changedAt: TIME,
}
const OPTIONAL = [
  'types',
  'deviceIds',
  'labels',
  'geofenceIds',
  'ruleIds',
  'hours',
  'maxAgeSeconds',
  'failingSince',
  'lastError',
  'nextAttemptAt',
  'lastDeliveredAt',
  'waiting',
]

export const SUBSCRIPTION: JsonSchema = objectOf(PROPERTIES, {
  title: 'Subscription',
  optional: OPTIONAL,
})

export const SUBSCRIPTION_WITH_SECRET: JsonSchema = objectOf(
  {
    ...PROPERTIES,
    secret: {
      type: 'string',
      description: 'Of a webhook: the secret that signs its requests. Shown only in this answer',
    },
  },
  { title: 'SubscriptionWithSecret', optional: [...OPTIONAL, 'secret'] },
)
