import type { KafkaMessage } from 'kafkajs'

/** A position as this program prints it. Times in milliseconds since the epoch. */
export type Position = Measurements & {
  readonly recordId: string
  readonly accountId: string
  readonly deviceId: string
  readonly latitude: number
  readonly longitude: number
  readonly timestamp: number
  readonly receivedAt: number
  /** Other data of the device, under its own names. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>>
  /** It was recorded earlier by another system, and imported as history. */
  readonly imported?: true
}

const MEASUREMENTS = ['accuracy', 'altitude', 'speed', 'heading', 'battery'] as const
type Measurements = { readonly [Name in (typeof MEASUREMENTS)[number]]?: number }

/** The device reported without a position. Times in milliseconds since the epoch. */
export type Heartbeat = {
  readonly accountId: string
  readonly deviceId: string
  readonly receivedAt: number
}

/** Something happened to a device; other fields depend on the type. Times are texts. */
export type DecidedFact = {
  readonly id: string
  readonly type: string
  readonly sequence: number
  readonly accountId: string
  readonly deviceId: string
}

/** All earlier positions, or facts, of this device must be deleted. */
export type Erasure = {
  readonly eventId: string
  readonly accountId: string
  readonly deviceId: string
  /** When the operator requested it, in milliseconds since the epoch. */
  readonly erasedAt: number
}

export type ReadEvent =
  | {
      readonly kind: 'position'
      readonly id: string
      readonly position: Position
      /** It waited while Kafka was unavailable, so a later erasure may precede it in the log. */
      readonly spooled: boolean
    }
  | { readonly kind: 'heartbeat'; readonly heartbeat: Heartbeat; readonly spooled: boolean }
  | { readonly kind: 'fact'; readonly fact: DecidedFact }
  | { readonly kind: 'erasure'; readonly erasure: Erasure }
  | { readonly kind: 'skipped'; readonly reason: string }

/** The part of a schema registry's client that is used here. */
export type Schemas = {
  getSchema(id: number): Promise<{ fromBuffer(bytes: Buffer): unknown }>
}

const POSITION_REPORTED = 'PositionReported.v1'
const DEVICE_SEEN = 'DeviceSeen.v1'
const DEVICE_ERASED = 'DeviceErased.v1'
/** In the topic gps.device-events: `device.offline.v1`. */
const FACT = /^(device|geofence|rule|alarm)\.[a-z]+\.v1$/

/** Confluent wire format: a zero byte, which never starts JSON, then the schema id in four bytes. */
const WIRE_HEADER_BYTES = 5
const NOT_FOUND = 404

/**
 * Reads an event from a Kafka record. Anything but a position, a heartbeat, a fact or an erasure is skipped,
 * so that it does not block later records.
 * @throws the error of `schemas` if the registry is unavailable: retry the record.
 */
export async function readEvent(
  { key, headers, value }: Pick<KafkaMessage, 'key' | 'headers' | 'value'>,
  schemas: Schemas | undefined,
): Promise<ReadEvent> {
  const type = headers?.['ce_type']?.toString() ?? 'nothing'
  const id = headers?.['ce_id']?.toString()
  if (id === undefined) return skipped(`it is ${type} and has no ce_id`)
  if (type === DEVICE_ERASED) {
    const erasedAt = Date.parse(headers?.['ce_time']?.toString() ?? '')
    return value === null ? erasure(id, key, erasedAt) : skipped(`it is ${type} with a value`)
  }
  if (FACT.test(type) && value !== null) {
    try {
      return { kind: 'fact', fact: fact(object(JSON.parse(value.toString('utf8')))) }
    } catch (error) {
      return skipped(error instanceof Error ? error.message : String(error))
    }
  }
  // Later versions may add types.
  if (type !== POSITION_REPORTED && type !== DEVICE_SEEN) {
    return skipped(`it is ${type}, which is not known`)
  }
  if (value === null) return skipped('it has no value')
  const spooled = headers?.['ce_spooled']?.toString() === 'true'
  const event = (decode: () => Fields): ReadEvent => {
    try {
      const fields = decode()
      if (type === DEVICE_SEEN) return { kind: 'heartbeat', spooled, heartbeat: heartbeat(fields) }
      return { kind: 'position', id, spooled, position: position(fields) }
    } catch (error) {
      return skipped(error instanceof Error ? error.message : String(error))
    }
  }
  if (value[0] !== 0) return event(() => fromJson(value))
  if (schemas === undefined) return skipped('it is Avro: give --registry')
  if (value.length < WIRE_HEADER_BYTES) return skipped('it ends before its schema id')

  const schemaId = value.readInt32BE(1)
  let schema
  try {
    schema = await schemas.getSchema(schemaId)
  } catch (error) {
    if ((error as { status?: unknown }).status !== NOT_FOUND) throw error
    return skipped(`the registry knows no schema ${schemaId}`)
  }
  return event(() => fromAvro(schema.fromBuffer(value.subarray(WIRE_HEADER_BYTES))))
}

function skipped(reason: string): ReadEvent {
  return { kind: 'skipped', reason }
}

/** An erasure has no value: the key names account and device. A device id may contain slashes. */
function erasure(eventId: string, key: Buffer | null, erasedAt: number): ReadEvent {
  const [, accountId, deviceId] = /^([^/]+)\/(.+)$/s.exec(key?.toString() ?? '') ?? []
  if (accountId === undefined || deviceId === undefined) return skipped('its key names no device')
  if (Number.isNaN(erasedAt)) return skipped('its ce_time is not a time')
  return { kind: 'erasure', erasure: { eventId, accountId, deviceId, erasedAt } }
}

type Fields = Readonly<Record<string, unknown>>

function fromJson(value: Buffer): Fields {
  const fields = object(JSON.parse(value.toString('utf8')))
  return {
    ...fields,
    timestamp: Date.parse(String(fields['timestamp'])),
    receivedAt: Date.parse(String(fields['receivedAt'])),
  }
}

/** Decoded with the writer's schema, so it may have fields added later; these are omitted. */
function fromAvro(value: unknown): Fields {
  return { ...object(value) }
}

function object(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw new Error('it is not an object')
  return value as Fields
}

function fact(fields: Fields): DecidedFact {
  const texts = ['id', 'type', 'accountId', 'deviceId']
  return { ...fields, ...picked(fields, { texts, numbers: ['sequence'] }) } as DecidedFact
}

function heartbeat(fields: Fields): Heartbeat {
  return picked(fields, { texts: ['accountId', 'deviceId'], numbers: ['receivedAt'] }) as Heartbeat
}

function position(fields: Fields): Position {
  const known = picked(fields, {
    texts: ['recordId', 'accountId', 'deviceId'],
    numbers: ['latitude', 'longitude', 'timestamp', 'receivedAt'],
  })
  for (const name of MEASUREMENTS) {
    // In Avro an absent measurement is null; in JSON it is missing.
    if (typeof fields[name] === 'number') known[name] = fields[name]
  }
  // In Avro they are null if absent, too.
  const { attributes, imported } = fields
  if (typeof attributes === 'object' && attributes !== null) known['attributes'] = { ...attributes }
  if (imported === true) known['imported'] = true
  return known as Position
}

/** Picks the known fields by name. */
function picked(
  fields: Fields,
  { texts, numbers }: { texts: readonly string[]; numbers: readonly string[] },
): Record<string, unknown> {
  const known: Record<string, unknown> = {}
  for (const name of texts) {
    if (typeof fields[name] !== 'string') throw new Error(`${name} is not a text`)
    known[name] = fields[name]
  }
  for (const name of numbers) {
    if (!Number.isFinite(fields[name])) throw new Error(`${name} is not a valid number`)
    known[name] = fields[name]
  }
  return known
}
