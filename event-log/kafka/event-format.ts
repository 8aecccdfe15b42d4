import type { IHeaders, KafkaMessage, Message } from 'kafkajs'
import {
  checkDeviceErased,
  decodeDeviceErased,
  DEVICE_ERASED,
  type DeviceErased,
} from '../../schemas/device-erased.ts'
import { UndecodableEventError, utf8 } from '../../schemas/event-fields.ts'
import { parseIso8601 } from '../../schemas/iso-8601.ts'
import {
  decodePositionReported,
  deviceKey,
  encodePositionReported,
  POSITION_REPORTED,
  type PositionReported,
} from '../../schemas/position-reported.ts'
import type { Origin } from '../../schemas/read-models.ts'
import type { LogEntry, UnreadableEntry } from '../event-log.ts'

/** Reads and writes the Avro form of the event. */
export type AvroFormat = {
  encode(event: PositionReported): Promise<Buffer>
  /**
   * @throws {UndecodableEventError} when the bytes are not an event.
   * @throws {DependencyError} when their schema cannot be fetched now.
   */
  decode(bytes: Buffer): Promise<PositionReported>
}

const SOURCE = 'gps-position-ingestion'
/** Marks events that have waited in a spool. */
const SPOOLED = 'ce_spooled'
/** The first byte of a value in the Confluent wire format; JSON never starts with it. */
const AVRO_MAGIC_BYTE = 0

/** Size of a message besides its key and value: headers, and Kafka's own framing. */
export const MESSAGE_OVERHEAD_BYTES = 300

/** The Kafka record of an event (CloudEvents 1.0 Kafka binding, binary mode, section 3.2). */
export async function toMessage(
  event: PositionReported,
  { avro, spooled = false }: { avro?: AvroFormat | undefined; spooled?: boolean } = {},
): Promise<Message> {
  return {
    key: deviceKey(event),
    value: avro === undefined ? encodePositionReported(event) : await avro.encode(event),
    // Retention uses it; by the device's own time a late report could go before it is projected.
    timestamp: String(event.receivedAt),
    headers: {
      ...cloudEventHeaders({
        id: event.recordId,
        type: POSITION_REPORTED,
        time: event.receivedAt,
      }),
      'content-type': avro === undefined ? 'application/json' : 'application/avro',
      ...(spooled && { [SPOOLED]: 'true' }),
    },
  }
}

/**
 * The Kafka record of an erasure, under the device's key and without a value.
 * @throws {UndecodableEventError} when it could not be read back.
 */
export function toErasureMessage(event: DeviceErased): Message {
  const { eventId, erasedAt } = checkDeviceErased(event)
  return {
    key: deviceKey(event),
    value: null,
    timestamp: String(erasedAt),
    headers: cloudEventHeaders({ id: eventId, type: DEVICE_ERASED, time: erasedAt }),
  }
}

/** Headers of every event; the content type of a value is added separately. */
export function cloudEventHeaders({ id, type, time }: { id: string; type: string; time: number }) {
  return {
    ce_specversion: '1.0',
    ce_id: id,
    ce_source: SOURCE,
    ce_type: type,
    ce_time: new Date(time).toISOString(),
  }
}

/**
 * Reads a Kafka record, JSON or Avro.
 * @throws {DependencyError} when a dependency is unavailable, never for the record's content.
 */
export async function toEntry(
  { key, value, headers, offset }: Pick<KafkaMessage, 'key' | 'value' | 'headers' | 'offset'>,
  partition: number,
  avro?: AvroFormat,
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
    if (type !== POSITION_REPORTED) return { kind: 'unknown', origin, type }
    const event = await decode(value, avro)
    const spooled = headerText(headers?.[SPOOLED]) === 'true'
    return { kind: 'position', origin, event, ...(spooled && { spooled }) }
  } catch (error) {
    if (!(error instanceof UndecodableEventError)) throw error
    const unreadable = { kind: 'unreadable', origin, reason: error.message, key, value } as const
    return headers === undefined ? unreadable : { ...unreadable, headers }
  }
}

async function decode(value: Buffer | null, avro?: AvroFormat): Promise<PositionReported> {
  if (value?.[0] !== AVRO_MAGIC_BYTE) return decodePositionReported(utf8(value, 'value'))
  if (avro === undefined) {
    throw new UndecodableEventError('the value is Avro, but no schema registry is configured')
  }
  return avro.decode(value)
}

function headerText(header: IHeaders[string]): string | undefined {
  return header === undefined || Array.isArray(header) ? undefined : header.toString()
}

/** Slightly overestimates: key and value each contain the account and device. */
export function sizeOfEvent(event: PositionReported): number {
  return MESSAGE_OVERHEAD_BYTES + 350 + 2 * Buffer.byteLength(deviceKey(event))
}

export function sizeOfEntry({ key, value }: UnreadableEntry): number {
  return MESSAGE_OVERHEAD_BYTES + (key?.byteLength ?? 0) + (value?.byteLength ?? 0)
}
