import type { KafkaMessage } from 'kafkajs'
import { DEVICE_ERASED } from '../../schemas/events/device-erased.ts'
import { UndecodableEventError, utf8 } from '../../schemas/events/event-fields.ts'
import {
  decodeFact,
  encodeFact,
  factEventType,
  isFactEventType,
} from '../../schemas/events/fact-event.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { FactLogEntry, FactTopic } from '../fact-log.ts'
import type { AdminClient } from './admin.ts'
import { cloudEventHeaders, headerText, toEntry, toErasureMessage } from './event-format.ts'
import type { LogMessage } from './kafkajs/encoded-record.ts'
import { fetchOffsetsBefore } from './offsets.ts'
import type { TopicReaders } from './topic-readers.ts'
import { messageBytes, topicWriter, type TopicWriterOptions } from './topic-writer.ts'

/** The facts of all devices, and their erasures, keyed as the events are. */
export function kafkaFactTopic({
  readers,
  writing,
  admin,
}: {
  readers: TopicReaders
  writing: Omit<TopicWriterOptions<LogMessage>, 'sizeOf' | 'toMessage' | 'bounds'>
  admin: AdminClient
}): FactTopic & { close(): Promise<void> } {
  const writer = topicWriter<LogMessage>({
    ...writing,
    sizeOf: messageBytes,
    toMessage: (message) => message,
  })
  return {
    append: (facts) => writer.write(facts.map(toFactMessage)),
    erase: async (event) => writer.write([toErasureMessage(event)]),
    tail: (from) => readers.tail({ ...from, toEntry: toFactEntry }),
    async extent() {
      return (await readers.bounds()).map(({ partition, low, high }) => ({
        partition,
        first: low,
        next: high,
        whole: low === 0,
      }))
    },
    placeBefore: (time) =>
      admin.ask('find a time', (client) => fetchOffsetsBefore(client, writing.topic, time)),
    close: () => writer.close(),
  }
}

/**
 * Converts a fact to a Kafka record. The record's timestamp, which retention uses, is the time of
 * the decision.
 */
export function toFactMessage(fact: DeviceFact): LogMessage {
  const { id, type, at, decidedAt } = fact
  return {
    key: deviceKey(fact),
    value: encodeFact(fact),
    time: decidedAt,
    headers: {
      ...cloudEventHeaders({ id, type: factEventType(type), time: at }),
      'content-type': 'application/json',
    },
  }
}

/** Reads a Kafka record of the topic. */
export async function toFactEntry(
  message: Pick<KafkaMessage, 'key' | 'value' | 'headers' | 'offset'>,
  partition: number,
): Promise<FactLogEntry> {
  const { key, value, headers, offset } = message
  const origin = { partition, offset: Number(offset) }
  const type = headerText(headers?.['ce_type']) ?? ''
  if (type === DEVICE_ERASED) {
    const entry = await toEntry(message, partition)
    if (entry.kind === 'erasure' || entry.kind === 'unreadable') return entry
  }
  if (!isFactEventType(type)) return { kind: 'unknown', origin, type }
  try {
    return { kind: 'fact', origin, event: decodeFact(utf8(value, 'value')) }
  } catch (error) {
    if (!(error instanceof UndecodableEventError)) throw error
    return { kind: 'unreadable', origin, reason: error.message, key, value }
  }
}
