import type { AppendedEvent } from '../../schemas/appended-event.ts'
import type { UnreadableEntry } from '../event-log.ts'
import type { KafkaClient, Logger } from './connection.ts'
import { toDeadLetter } from './dead-letters.ts'
import type { LogMessage } from './kafkajs/encoded-record.ts'
import { sizeOfEntry, sizeOfEvent, toMessage } from './event-format.ts'
import type { PreparedTopics } from './prepared-topics.ts'
import { REJECTION_BOUNDS } from './rejections.ts'
import { messageBytes, topicWriter, type TopicWriter } from './topic-writer.ts'
import type { topicNames } from './topics.ts'

/** An event, one that has waited in a spool, or a finished message. */
export type WrittenEvent =
  AppendedEvent | { readonly spooled: AppendedEvent } | { readonly message: LogMessage }

export type Writers = {
  readonly positions: TopicWriter<WrittenEvent>
  readonly deadLetters: TopicWriter<UnreadableEntry>
  readonly rejections: TopicWriter<LogMessage>
}

/** A writer for each topic. Their queues are separate, so refusals cannot displace positions. */
export function topicWriters({
  topics,
  prepared,
  newClient,
  logger,
}: {
  topics: ReturnType<typeof topicNames>
  prepared: PreparedTopics
  newClient: (options: { retries: number }) => KafkaClient
  logger: Logger
}): Writers {
  const writingTo = (topic: string) => ({
    ...{ topic, newClient, logger, whenReady: prepared.whenReady, now: () => performance.now() },
    partitions: () => prepared.partitions(topic),
    minInSync: () => prepared.minInSync(topic),
  })
  return {
    positions: topicWriter<WrittenEvent>({
      ...writingTo(topics.positions),
      sizeOf: (item) =>
        'message' in item ? messageBytes(item.message) : sizeOfEvent(eventIn(item)),
      toMessage: (item) =>
        'message' in item
          ? item.message
          : toMessage(eventIn(item), { avro: prepared.avro(), spooled: 'spooled' in item }),
    }),
    deadLetters: topicWriter({
      ...writingTo(topics.deadLetters),
      sizeOf: sizeOfEntry,
      toMessage: (entry) => toDeadLetter(entry, topics.positions),
    }),
    rejections: topicWriter({
      ...writingTo(topics.rejections),
      bounds: REJECTION_BOUNDS,
      sizeOf: messageBytes,
      toMessage: (message) => message,
    }),
  }
}

function eventIn(item: AppendedEvent | { readonly spooled: AppendedEvent }) {
  return 'spooled' in item ? item.spooled : item
}
