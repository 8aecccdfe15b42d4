import type { IHeaders, KafkaMessage } from 'kafkajs'
import type { Topic, StoredRecord, TopicKind, TopicRecord } from '../topic.ts'
import type { AdminClient } from './admin.ts'
import type { Logger } from './kafka-client.ts'
import { cloudEventHeaders } from './event-format.ts'
import type { LogMessage } from './kafkajs/encoded-record.ts'
import type { TopicReaders } from './topic-readers.ts'
import { messageBytes, topicWriter, type TopicWriterOptions } from './topic-writer.ts'

/** A topic of entries of one kind, with a separate producer and group members. */
export function kafkaTopic<Entry>(
  kind: TopicKind<Entry>,
  {
    readers,
    writing,
    admin,
    logger,
  }: {
    readers: TopicReaders
    writing: Omit<TopicWriterOptions<LogMessage>, 'sizeOf' | 'toMessage' | 'bounds'>
    admin: AdminClient
    logger: Logger
  },
): Topic<Entry> & { close(): Promise<void> } {
  const { topic } = writing
  const writer = topicWriter<LogMessage>({
    ...writing,
    ...(kind.waiting !== undefined && { bounds: kind.waiting }),
    sizeOf: messageBytes,
    toMessage: (message) => message,
  })
  const append = async (entries: readonly Entry[]) =>
    writer.write(entries.map((entry) => recordMessage(kind.toRecord(entry))))

  return {
    append,

    subscribe: ({ group, onBatch, signal }) =>
      readers.subscribe({
        group,
        async toBatch({ messages, partition }) {
          const entries = messages.flatMap((message) => parseMessage(message, partition))
          return entries.length > 0 ? entries : undefined
        },
        onBatch,
        // Failures of its readers must not end a process that also reads events.
        givenUpAfterMs: Infinity,
        signal,
      }),

    async *read() {
      const held = (await readers.bounds()).filter(({ low, high }) => low < high)
      const ends = new Map(held.map(({ partition, high }) => [partition, high - 1]))
      if (ends.size === 0) return
      const ending = new AbortController()
      const toEntry = async (message: KafkaMessage, partition: number) =>
        parseMessage(message, partition)
      try {
        for await (const item of readers.tail({ after: {}, signal: ending.signal, toEntry })) {
          if (item.kind === 'gap') continue
          const { partition, lastOffset: offset, entries } = item
          if (ends.has(partition)) yield { entries: entries.flat(), upTo: { partition, offset } }
          if (offset >= (ends.get(partition) ?? -1)) ends.delete(partition)
          if (ends.size === 0) return
        }
      } finally {
        ending.abort()
      }
    },

    async remove({ upTo: { partition, offset } }, { keep }) {
      await append(keep)
      const partitions = [{ partition, offset: String(offset + 1) }]
      await admin.ask('remove settled entries', (client) =>
        client.deleteTopicRecords({ topic, partitions }),
      )
    },

    async count() {
      const held = await readers.bounds()
      return held.reduce((sum, { low, high }) => sum + high - low, 0)
    },

    close: () => writer.close(),
  }

  function parseMessage({ key, value, headers = {}, offset }: KafkaMessage, partition: number) {
    try {
      return [kind.fromRecord({ key, value, headers } satisfies StoredRecord)]
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      logger.warn({ topic, partition, offset: Number(offset), reason }, 'unreadable entry skipped')
      return []
    }
  }
}

/** Makes the Kafka record of an entry: a CloudEvent, or the message unchanged. */
export function recordMessage({ id, key, value, event, headers }: TopicRecord): LogMessage {
  return {
    key: bytesOf(key),
    value: bytesOf(value),
    ...(event !== undefined && { time: event.time }),
    headers: {
      ...(event !== undefined && {
        ...cloudEventHeaders({ id, ...event }),
        'content-type': 'application/json',
      }),
      ...(headers as IHeaders | undefined),
    },
  }
}

function bytesOf(content: string | Uint8Array | null): string | Buffer | null {
  return content === null || typeof content === 'string' ? content : Buffer.from(content)
}
