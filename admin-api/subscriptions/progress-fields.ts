import { objectOf } from '../../runtime/openapi/json-schema.ts'
import {
  SUBSCRIPTION_STATES,
  subscriptionState,
  type DeviceSubscription,
} from '../../schemas/subscriptions/subscription.ts'
import { readOnly } from '../http/resource-fields.ts'
import { isoTime, TIME } from '../http/views.ts'

type Progress = Pick<DeviceSubscription, 'progress'>

/** How far a subscription has come. */
export const PROGRESS_FIELDS = {
  state: readOnly(
    {
      enum: [...SUBSCRIPTION_STATES],
      description: '`paused`: the account is suspended; the metrics alone show it',
    },
    // Nobody of a suspended account may ask.
    { view: (item: DeviceSubscription) => subscriptionState(item, { suspended: false }) },
  ),
  failingSince: readOnly(TIME, {
    view: ({ progress }: Progress) => progress.failingSince,
    isOptional: true,
  }),
  lastError: readOnly(
    { type: 'string', description: 'Why the last attempt failed' },
    {
      view: ({ progress: { failingSince, lastError } }: Progress) =>
        failingSince === undefined ? undefined : lastError,
      isOptional: true,
    },
  ),
  notice: readOnly(
    {
      type: 'string',
      description: 'What to know of the last delivery, although it succeeded',
    },
    { view: ({ progress }: Progress) => progress.notice, isOptional: true },
  ),
  nextAttemptAt: readOnly(TIME, {
    view: ({ progress }: Progress) => progress.attempt?.nextAt,
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
        more: { type: 'boolean', description: 'Whether more wait than were counted' },
      },
      {
        title: 'WaitingItems',
        description: 'The items that wait while it fails or is disabled; absent: none are known',
      },
    ),
    {
      view: ({ progress: { waiting } }: Progress) =>
        waiting && { count: waiting.count, more: waiting.more },
      isOptional: true,
    },
  ),
  mark: readOnly(
    { type: 'string', description: 'How far it has come in the feed' },
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
