import { isUtf8 } from 'node:buffer'
import type { KafkaMessage, Message } from 'kafkajs'
import {
  decodePositionReported,
  deviceKey,
  encodePositionReported,
  POSITION_REPORTED,
  UndecodableEventError,
  type PositionReported,
} from '../../schemas/position-reported.ts'
import type { Origin } from '../../schemas/read-models.ts'
import type { LogEntry, UnreadableEntry } from '../event-log.ts'

/** Reads and writes the Avro form of the event. */
export type AvroFormat = {
  encode(event: PositionReported): Promise<Buffer>
  /**
   * @throws {UndecodableEventError} when these bytes are no event.
   * @throws {DependencyError} when the schema they name cannot be fetched now.
   */
  decode(bytes: Buffer): Promise<PositionReported>
}

export const DEVICE_ERASED = 'DeviceErased.v1'

const SOURCE = 'gps-position-ingestion'
/** What an Avro value in the Confluent wire format begins with, and no JSON text does. */
const AVRO_MAGIC_BYTE = 0

/** What a message takes beside its key and value: headers, and Kafka's own framing. */
export const MESSAGE_OVERHEAD_BYTES = 300

/** The record of an event (CloudEvents 1.0 Kafka binding, binary content mode, section 3.2). */
export async function toMessage(event: PositionReported, avro?: AvroFormat): Promise<Message> {
  return {
    key: deviceKey(event),
    value: avro === undefined ? encodePositionReported(event) : await avro.encode(event),
    // Retention goes by it; by the device's own time a late report could go before it is projected.
    timestamp: String(event.receivedAt),
    headers: {
      ce_specversion: '1.0',
      ce_id: event.recordId,
      ce_source: SOURCE,
      ce_type: POSITION_REPORTED,
      ce_time: new Date(event.receivedAt).toISOString(),
      'content-type': avro === undefined ? 'application/json' : 'application/avro',
    },
  }
}

/**
 * Reads a record back, JSON or Avro, whichever it is. Undefined for an erasure, which is no entry
 * that this log delivers.
 * @throws {DependencyError} when that cannot be decided now; never for what the record holds.
 */
export async function toEntry(
  { key, value, headers, offset }: Pick<KafkaMessage, 'key' | 'value' | 'headers' | 'offset'>,
  partition: number,
  avro?: AvroFormat,
): Promise<LogEntry | undefined> {
  const origin: Origin = { partition, offset: Number(offset) }
  if (value === null && text(headers?.['ce_type']) === DEVICE_ERASED) return undefined
  try {
    return { kind: 'position', origin, event: await decode(value, avro) }
  } catch (error) {
    if (!(error instanceof UndecodableEventError)) throw error
    return { kind: 'unreadable', origin, reason: error.message, key, value }
  }
}

/** The record of a dead letter: its bytes untouched, and where it came from. */
export function toDeadLetter({ key, value, reason, origin }: UnreadableEntry, topic: string) {
  return {
    key: key === null ? null : Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
    headers: {
      error: reason,
      topic,
      partition: String(origin.partition),
      offset: String(origin.offset),
    },
  } satisfies Message
}

async function decode(value: Buffer | null, avro?: AvroFormat): Promise<PositionReported> {
  if (value === null) throw new UndecodableEventError('there is no value')
  if (value[0] !== AVRO_MAGIC_BYTE) {
    // Decoded first, foreign bytes would turn one device's id into another's.
    if (!isUtf8(value)) throw new UndecodableEventError('the value is not UTF-8')
    return decodePositionReported(value.toString('utf8'))
  }
  if (avro === undefined) {
    throw new UndecodableEventError('the value is Avro, but no schema registry is configured')
  }
  return avro.decode(value)
}

function text(header: Buffer | string | (Buffer | string)[] | undefined): string | undefined {
  return header === undefined || Array.isArray(header) ? undefined : header.toString()
}
