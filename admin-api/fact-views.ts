import { objectOf, type JsonSchema } from '../runtime/openapi/json-schema.ts'
import { FACT_TYPES, type DeviceFact } from '../schemas/facts/facts.ts'
import { HANDLING_STATES, handlingView } from '../schemas/facts/handling.ts'
import { factView } from '../schemas/facts/view.ts'
import type { FactHandling } from '../store/handlings.ts'
import { RECORD, TIME } from './http/views.ts'

/** A fact with how operators handle it. */
export function handledFactView(fact: DeviceFact, handling: FactHandling | undefined) {
  return { ...factView(fact), ...(handling && { handling: handlingView(handling) }) }
}

export const FACT: JsonSchema = objectOf(
  {
    id: { type: 'string', description: 'ULID; its time is `at`' },
    type: { enum: [...FACT_TYPES] },
    sequence: {
      type: 'integer',
      minimum: 1,
      description: 'Numbers the events of a device without gaps; restarts at 1 after an erasure',
    },
    deviceId: { type: 'string' },
    at: { ...TIME, description: 'When it happened' },
    decidedAt: { ...TIME, description: 'When the service decided it' },
    previous: {
      type: ['string', 'null'],
      description: '`device.online`: `offline`, or null at the first report ever',
    },
    alarm: { type: 'string', description: '`alarm.reported`: its name' },
    late: {
      type: 'boolean',
      description: '`alarm.reported`: a newer position was already known',
    },
    geofence: objectOf(
      {
        id: { type: 'string' },
        externalId: { type: 'string' },
        name: { type: 'string' },
        revision: { type: 'integer' },
        properties: { type: 'object', additionalProperties: { type: 'string' } },
      },
      {
        title: 'GeofenceOfFact',
        optional: ['externalId', 'properties'],
        description: '`geofence.entered` and `geofence.left`',
      },
    ),
    enteredAt: {
      ...TIME,
      type: ['string', 'null'],
      description: '`geofence.left`: null if it was inside when the geofence came into force',
    },
    rule: objectOf(
      { id: { type: 'string' }, name: { type: 'string' }, revision: { type: 'integer' } },
      { title: 'RuleOfFact', description: '`rule.raised` and `rule.cleared`' },
    ),
    value: {
      type: ['number', 'string', 'boolean'],
      description: 'For a rule on a field: the value that was judged',
    },
    raisedAt: { ...TIME, description: '`rule.cleared`' },
    seconds: {
      type: ['number', 'null'],
      description: 'How long the device was inside or the rule raised; null if unknown',
    },
    position: RECORD,
    inside: {
      type: 'array',
      items: { type: 'string' },
      description:
        'The ids of the geofences that the device is in afterwards: at most 100, the last that it entered',
    },
    suppressed: {
      type: 'integer',
      minimum: 1,
      description:
        'How many events were dropped since the previous one, because the device causes too many',
    },
  },
  {
    title: 'Fact',
    optional: [
      'previous',
      'alarm',
      'late',
      'geofence',
      'enteredAt',
      'rule',
      'value',
      'raisedAt',
      'seconds',
      'position',
      'suppressed',
    ],
  },
)

const HANDLING: JsonSchema = objectOf(
  {
    state: { enum: [...HANDLING_STATES] },
    operator: {
      type: 'string',
      description: 'The e-mail of the operator, or the name of the key, as it was then',
    },
    at: TIME,
    note: { type: 'string' },
  },
  {
    title: 'Handling',
    optional: ['note'],
    description:
      '`alarm.reported` and `rule.raised`: what operators do about it; absent: nothing yet',
  },
)

/** It is not part of the fact, so feeds and webhooks do not include it. */
export const HANDLED_FACT: JsonSchema = {
  ...FACT,
  title: 'HandledFact',
  properties: { ...(FACT['properties'] as object), handling: HANDLING },
}
