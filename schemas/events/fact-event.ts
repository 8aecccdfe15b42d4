import {
  accountIdOf,
  identifier,
  jsonObject,
  numberField,
  requireOneOf,
  timeField,
  ulidField,
  UndecodableEventError,
} from './event-fields.ts'
import { FACT_TYPES, type DeviceFact, type FactType } from '../facts/facts.ts'
import { DETAIL_TIMES, factView } from '../facts/view.ts'

// The event in the topic of facts.

/** The event's type: `device.offline.v1`. */
export function factEventType(type: FactType): string {
  return `${type}.v1`
}

export function isFactEventType(type: string): boolean {
  return FACT_TYPES.some((known) => factEventType(known) === type)
}

/** The event's value as JSON text: the fact as the API shows it, and its account. */
export function encodeFact(fact: DeviceFact): string {
  return JSON.stringify({ accountId: fact.accountId, ...factView(fact) })
}

/**
 * Decodes an event's value. Its details are unchanged from the service that decided the fact.
 * @throws {UndecodableEventError} naming the first fault.
 */
export function decodeFact(json: string): DeviceFact {
  const { position, ...fields } = jsonObject(json)
  const { inside } = fields
  if (!Array.isArray(inside)) throw new UndecodableEventError('inside is not a list')
  const times = DETAIL_TIMES.filter((name) => typeof fields[name] === 'string')
  return {
    ...fields,
    ...Object.fromEntries(times.map((name) => [name, timeField(fields[name], name)])),
    type: requireOneOf(fields['type'], 'type', FACT_TYPES),
    id: ulidField(fields['id'], 'id'),
    sequence: numberField(fields['sequence'], 'sequence', 1),
    accountId: accountIdOf(fields['accountId']),
    deviceId: identifier(fields['deviceId'], 'deviceId'),
    at: timeField(fields['at'], 'at'),
    decidedAt: timeField(fields['decidedAt'], 'decidedAt'),
    ...(position !== undefined && { position: parsePosition(position) }),
  } as unknown as DeviceFact
}

function parsePosition(value: unknown): object {
  if (typeof value !== 'object' || value === null) {
    throw new UndecodableEventError('position is not an object')
  }
  const fields = dropDevice(value as Record<string, unknown>)
  return {
    ...fields,
    timestamp: timeField(fields['timestamp'], 'position.timestamp'),
    receivedAt: timeField(fields['receivedAt'], 'position.receivedAt'),
  }
}

function dropDevice({ deviceId: _, ...fields }: Record<string, unknown>) {
  return fields
}
