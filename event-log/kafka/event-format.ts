import type { IHeaders, KafkaMessage } from 'kafkajs'
import {
  checkDeviceErased,
  decodeDeviceErased,
  DEVICE_ERASED,
  type DeviceErased,
} from '../../schemas/events/device-erased.ts'
import { UndecodableEventError, utf8 } from '../../schemas/events/event-fields.ts'
import { isoTime, parseIso8601 } from '../../schemas/text/iso-8601.ts'
import {
  encodeEvent,
  eventIdOf,
  eventTypeOf,
  isDeviceSeen,
  type AppendedEvent,
} from '../../schemas/events/appended-event.ts'
import {
  checkDeviceSeen,
  decodeDeviceSeen,
  DEVICE_SEEN,
  type DeviceSeen,
} from '../../schemas/events/device-seen.ts'
import {
  checkPositionReported,
  decodePositionReported,
  deviceKey,
  POSITION_REPORTED,
  type PositionReported,
} from '../../schemas/events/position-reported.ts'
import type { Origin } from '../../schemas/devices/read-models.ts'
import type { LogEntry, UnreadableEntry } from '../event-log.ts'
import type { LogMessage } from './kafkajs/encoded-record.ts'

/** Reads and writes the Avro form of one type of events. */
export type AvroFormat = {
  encode(fields: object): Buffer
  /**
   * @throws {UndecodableEventError} when the bytes are not of that type.
   * @throws {DependencyError} when their schema cannot be fetched now.
   */
  decode(bytes: Buffer): Promise<Record<string, unknown>>
}

export type AvroFormats = { readonly positions: AvroFormat; readonly heartbeats: AvroFormat }

const SOURCE = 'gps-position-ingestion'
/** Marks events that have waited in a spool. */
const SPOOLED = 'ce_spooled'
/** Only on heartbeats: Kafka Connect's predicates see the names of headers, not the value of `ce_type`. */
const HEARTBEAT = 'ce_heartbeat'
/** Marks imported history, so that consumers do not treat it as new. */
const IMPORTED = 'ce_imported'
const AVRO_CONTENT_TYPE = 'application/avro'
/** The first byte of a value in the Confluent wire format; JSON never starts with it. */
const AVRO_MAGIC_BYTE = 0

/** Size of a message besides its key and value: headers, and Kafka's own framing. */
export const MESSAGE_OVERHEAD_BYTES = 300

/** The Kafka record of an event (CloudEvents 1.0 Kafka binding, binary mode, section 3.2). */
export function toMessage(
  event: AppendedEvent,
  { avro, spooled = false }: { avro?: AvroFormats | undefined; spooled?: boolean } = {},
): LogMessage {
  const format = isDeviceSeen(event) ? avro?.heartbeats : avro?.positions
  const headers: Record<string, string> = cloudEventHeaders({
    id: eventIdOf(event),
    type: eventTypeOf(event),
    time: event.receivedAt,
  })
  headers['content-type'] = avro === undefined ? 'application/json' : AVRO_CONTENT_TYPE
  if (spooled) headers[SPOOLED] = 'true'
  if (isDeviceSeen(event)) headers[HEARTBEAT] = 'true'
  else if (event.imported === true) headers[IMPORTED] = 'true'
  return {
    key: deviceKey(event),
    value: format === undefined ? encodeEvent(event) : format.encode(event),
    // Retention uses it: by the device's own time, it could delete a late report before it is projected.
    time: event.receivedAt,
    headers,
  }
}

/**
 * The Kafka record of an erasure, under the device's key and without a value.
 * @throws {UndecodableEventError} when it could not be read back.
 */
export function toErasureMessage(event: DeviceErased): LogMessage {
  const { eventId, erasedAt } = checkDeviceErased(event)
  return {
    key: deviceKey(event),
    value: null,
    time: erasedAt,
    headers: cloudEventHeaders({ id: eventId, type: DEVICE_ERASED, time: erasedAt }),
  }
}

/** The Kafka record of a dead letter that is appended again: the original entry, under its own key. */
export function toReplay({ key, value, headers }: UnreadableEntry): LogMessage {
  return {
    key: key && Buffer.from(key),
    value: value && Buffer.from(value),
    // No time, so it gets the present one: by its original time, retention could delete it unprojected.
    ...(headers !== undefined && { headers: headers as IHeaders }),
  }
}

/** Headers of every event; the content type of a value is added separately. */
export function cloudEventHeaders({ id, type, time }: { id: string; type: string; time: number }) {
  return {
    ce_specversion: '1.0',
    ce_id: id,
    ce_source: SOURCE,
    ce_type: type,
    ce_time: isoTime(time),
  }
}

/**
 * Reads a Kafka record, JSON or Avro.
 * @throws {DependencyError} when a dependency is unavailable, never for the record's content.
 */
export async function toEntry(
  { key, value, headers, offset }: Pick<KafkaMessage, 'key' | 'value' | 'headers' | 'offset'>,
  partition: number,
  avro?: AvroFormats,
): Promise<LogEntry> {
  const origin: Origin = { partition, offset: Number(offset) }
  try {
    // Without a type it may still be a position; if not, it is unreadable.
    const type = headerText(headers?.['ce_type']) ?? POSITION_REPORTED
    if (type === DEVICE_ERASED) {
      const eventId = headerText(headers?.['ce_id'])
      const erasedAt = parseIso8601(headerText(headers?.['ce_time']) ?? '')
      const event = decodeDeviceErased({ key, value, eventId, erasedAt })
      return { kind: 'erasure', origin, event }
    }
    const spooled = headerText(headers?.[SPOOLED]) === 'true'
    if (type === DEVICE_SEEN) {
      const event = await decodeSeen(value, headerText(headers?.['ce_id']), avro?.heartbeats)
      return { kind: 'seen', origin, event, ...(spooled && { spooled }) }
    }
    if (type !== POSITION_REPORTED) return { kind: 'unknown', origin, type }
    const event = await decodePosition(value, avro?.positions)
    return { kind: 'position', origin, event, ...(spooled && { spooled }) }
  } catch (error) {
    if (!(error instanceof UndecodableEventError)) throw error
    return {
      kind: 'unreadable',
      origin,
      reason: error.message,
      key,
      value,
      ...(headers !== undefined && { headers }),
      // Only if its header says Avro: otherwise any value that starts with a zero could stop the projector.
      ...(avro === undefined &&
        isAvro(value) &&
        headerText(headers?.['content-type']) === AVRO_CONTENT_TYPE && {
          missing: 'SCHEMA_REGISTRY_URL',
        }),
    }
  }
}

async function decodePosition(value: Buffer | null, avro?: AvroFormat): Promise<PositionReported> {
  if (!isAvro(value)) return decodePositionReported(utf8(value, 'value'))
  return checkPositionReported(await decodeAvro(value, avro))
}

async function decodeSeen(
  value: Buffer | null,
  eventId: string | undefined,
  avro?: AvroFormat,
): Promise<DeviceSeen> {
  if (!isAvro(value)) return decodeDeviceSeen(utf8(value, 'value'), eventId)
  return checkDeviceSeen(await decodeAvro(value, avro), eventId)
}

function isAvro(value: Buffer | null): value is Buffer {
  return value?.[0] === AVRO_MAGIC_BYTE
}

async function decodeAvro(value: Buffer, avro?: AvroFormat): Promise<Record<string, unknown>> {
  if (avro === undefined) {
    throw new UndecodableEventError('the value is Avro, and SCHEMA_REGISTRY_URL is not set')
  }
  return avro.decode(value)
}

export function headerText(header: IHeaders[string]): string | undefined {
  return header === undefined || Array.isArray(header) ? undefined : header.toString()
}

/** Slightly overestimates: key and value each contain the account and device. */
export function sizeOfEvent(event: AppendedEvent): number {
  return MESSAGE_OVERHEAD_BYTES + 350 + 2 * Buffer.byteLength(deviceKey(event))
}
