import { invalidParams, type ApiError } from '../../runtime/errors.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'
import type { OutboundNetworks } from '../../runtime/outbound/outbound-url.ts'
import { FACT_TYPES } from '../../schemas/facts/facts.ts'
import { isTimeZone } from '../../schemas/geo/local-time.ts'
import {
  MOST_SUBSCRIPTIONS,
  SOURCES,
  SUBSCRIPTION_STATES,
  subscriptionState,
  type DeviceSubscription,
  type SubscriptionContent,
} from '../../schemas/subscriptions/subscription.ts'
import type { TooLarge } from '../../store/definitions.ts'
import { TOO_LARGE } from '../geofences/geofence-rules.ts'
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
import { isoTime, TIME } from '../http/views.ts'
import type { Caller } from '../http/caller.ts'
import { HOURS, parseHours } from './parse-hours.ts'
import { TARGET, targetParser, SHOWN_TARGET, targetView, shortenAddresses } from './parse-target.ts'

const MOST_IDS = 100
const ZONE_EXPECTED = 'zone must be the name of a time zone, such as Europe/Berlin'
const TYPES_EXPECTED = `types must be a list of ${FACT_TYPES.join(', ')}`

/** `networks`: the networks that targets may reach in addition to the public Internet. */
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
        'Only events about one of these, or of a device that is in one',
      ),
    ),
    ruleIds: optional(idsRule('ruleIds', 'rules').described('Only events about one of these')),
    hours: optional(parsedParts(parseHours, HOURS), { shown: { ...HOURS, title: 'Hours' } }),
    zone: optional(
      text({ max: 64, expected: ZONE_EXPECTED, fits: isTimeZone }).described(
        'IANA time zone for times in chats and mails; by default that of `hours`, else the server’s',
      ),
    ),
    everySeconds: withDefault(
      secondsRule('everySeconds', { min: 0, max: 3_600 }).described(
        'The minimum time between two deliveries',
      ),
      0,
    ),
    maxAgeSeconds: optional(
      secondsRule('maxAgeSeconds', { min: 1, max: 30 * 86_400 }).described(
        'Items decided longer ago are skipped: by default none, in mails and chats after an hour. Items due while the receiver failed stay deliverable for 24 hours',
      ),
    ),
    start: {
      created: startRule('start')
        .nullIsAbsence()
        .withDefault('now')
        .described('Where it starts: `now`, `start`, a mark of the feed, or a time'),
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
        description:
          'For a webhook: the secret that signs its requests. Shown only in this response',
      },
      { isSecret: true, isOptional: true },
    ),
  }
}

/** `secret` and `sendsSince`: in the responses that include them. */
export type ShownSubscription = DeviceSubscription & {
  readonly secret?: string
  readonly sendsSince?: number
}

/** Where reading a feed starts. */
export function startRule(field: string) {
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

/** @throws {ApiError} 400 for fields that cannot be combined. */
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
    .map(([field]) => ({ field, message: `${field} is about events, not about positions` }))
  if (target.kind !== 'webhook') {
    const message = `target.kind ${target.kind} takes events; positions go to a webhook`
    faults.push({ field: 'target.kind', message })
  }
  if (faults.length > 0) throw invalidParams(faults)
}

/** @throws {ApiError} 400 for too many subscriptions, or definitions that are too large. */
export function requireStoredSubscription(outcome: 'stored' | 'too many' | TooLarge): void {
  if (outcome === 'stored') return
  if (outcome === 'too large') throw tooLargeSubscription()
  const message = `an account has at most ${MOST_SUBSCRIPTIONS} notifications: delete some first`
  throw invalidParams([{ field: 'name', message }])
}

export function tooLargeSubscription(): ApiError {
  return invalidParams([{ field: 'name', message: TOO_LARGE }])
}

type Progress = Pick<DeviceSubscription, 'progress'>

/** The progress of a subscription. */
const PROGRESS_FIELDS = {
  state: readOnly(
    {
      enum: [...SUBSCRIPTION_STATES],
      description: '`paused`: the account is suspended; only the metrics show it',
    },
    // Calls from a suspended account are rejected, so it never sees this.
    { view: (item: DeviceSubscription) => subscriptionState(item, { suspended: false }) },
  ),
  failingSince: readOnly(TIME, {
    view: ({ progress }: Progress) => progress.failingSince,
    isOptional: true,
  }),
  lastError: readOnly(
    {
      type: 'string',
      description:
        'Why the last attempt failed, or the recipients whom the last mail did not reach',
    },
    {
      view: ({ progress: { lastError } }: Progress, caller: Caller) =>
        lastError === undefined ? undefined : shortenAddresses(lastError, caller),
      isOptional: true,
    },
  ),
  notice: readOnly(
    {
      type: 'string',
      description: 'A warning about the last delivery, although it succeeded',
    },
    { view: ({ progress }: Progress) => progress.notice, isOptional: true },
  ),
  nextAttemptAt: readOnly(TIME, {
    view: ({ progress: { attempt, late } }: Progress) => attempt?.nextAt ?? late?.nextAt,
    isOptional: true,
  }),
  lastDeliveredAt: readOnly(TIME, {
    view: ({ progress }: Progress) => progress.succeededAt,
    isOptional: true,
  }),
  waiting: readOnly(
    objectOf(
      {
        count: { type: 'integer', description: 'Counted each minute, up to about 10 000' },
        more: { type: 'boolean', description: 'Whether more items wait than were counted' },
      },
      {
        title: 'WaitingItems',
        description:
          'The number of items waiting while it fails or is disabled; absent: none are known',
      },
    ),
    {
      view: ({ progress: { waiting } }: Progress) =>
        waiting && { count: waiting.count, more: waiting.more },
      isOptional: true,
    },
  ),
  sendsSince: readOnly(
    { ...TIME, description: 'After a rewind: items decided earlier are too old to be sent' },
    { isOptional: true },
  ),
  mark: readOnly(
    { type: 'string', description: 'Its position in the feed' },
    { view: ({ progress }: Progress) => progress.mark },
  ),
  setAside: readOnly(
    {
      type: 'array',
      description: 'Items that the receiver refused three times, the newest 100',
      items: objectOf(
        { id: { type: 'string' }, at: TIME, status: { type: 'integer' } },
        { title: 'SetAsideItem' },
      ),
    },
    {
      view: ({ progress }: Progress) =>
        progress.setAside.map(({ id, at, status }) => ({ id, at: isoTime(at), status })),
    },
  ),
}
