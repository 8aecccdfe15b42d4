import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import {
  SOURCES,
  SUBSCRIPTION_STATES,
  subscriptionState,
  type DeviceSubscription,
  type ShownTarget,
} from '../../schemas/subscriptions/subscription.ts'
import { SELECTION_PROPERTIES, selectionView } from '../geofences/selection-rules.ts'
import type { Caller } from '../http/caller.ts'
import { isoTime, TIME } from '../http/views.ts'
import { HOURS } from './parse-hours.ts'

export function subscriptionView(subscription: DeviceSubscription, caller: Caller) {
  const { id, name, source, types, geofenceIds, ruleIds, hours, everySeconds } = subscription
  const { maxAgeSeconds, target, progress, revision, createdAt, changedAt } = subscription
  const { failingSince, lastError, notice, attempt, succeededAt, setAside, mark, waiting } =
    progress
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
    target: seesAddresses(caller) ? target : withoutAddresses(target),
    // Nobody of a suspended account may ask.
    state: subscriptionState(subscription, { suspended: false }),
    ...(failingSince !== undefined && { failingSince: isoTime(failingSince) }),
    ...(failingSince !== undefined && lastError !== undefined && { lastError }),
    ...(notice !== undefined && { notice }),
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

/** Whether the caller could have entered the addresses; the others who read subscriptions have no list of operators. */
function seesAddresses(caller: Caller): boolean {
  if (caller.kind === 'operator') return caller.operator.role !== 'viewer'
  return caller.key.scopes.includes('admin') && caller.key.deviceIds === undefined
}

/** `o…@example.org` */
function withoutAddresses(target: ShownTarget): ShownTarget {
  if (target.kind !== 'email') return target
  return { ...target, to: target.to.map((address) => address.replace(/^(.).*(@.*)$/su, '$1…$2')) }
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
      to: {
        type: 'array',
        items: { type: 'string' },
        description: 'Whole for dispatchers and admins; others read `o…@example.org`',
      },
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
  notice: {
    type: 'string',
    description: 'What to know of the last delivery, although it succeeded',
  },
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
  'notice',
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
