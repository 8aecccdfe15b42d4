import type { IHeaders, KafkaMessage } from 'kafkajs'
import type { DeadLetter, DeadLetters } from '../dead-letters.ts'
import type { LogEntry, UnreadableEntry } from '../event-log.ts'
import type { LogMessage } from './kafkajs/encoded-record.ts'
import type { Bounds } from './offsets.ts'
import type { TailItemOf } from './tail.ts'

/** The headers that record an entry's origin, added to its own headers. */
const OURS = ['error', 'topic', 'partition', 'offset'] as const

/** The Kafka record of a dead letter: key, value and headers unchanged, plus its origin. */
export function toDeadLetter(
  { key, value, headers, reason, origin }: UnreadableEntry,
  topic: string,
) {
  return {
    key: key === null ? null : Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
    headers: {
      ...(headers as IHeaders | undefined),
      error: reason,
      topic,
      partition: String(origin.partition),
      offset: String(origin.offset),
    },
  } satisfies LogMessage
}

/** The original entry of a dead letter, and the result of reading it now. */
export async function fromDeadLetter(
  { key, value, headers = {} }: KafkaMessage,
  toEntry: (
    message: Pick<KafkaMessage, 'key' | 'value' | 'headers' | 'offset'>,
    partition: number,
  ) => Promise<LogEntry>,
): Promise<DeadLetter> {
  const text = (name: (typeof OURS)[number]) => String(headers[name] ?? '')
  const origin = { partition: Number(text('partition')), offset: Number(text('offset')) }
  const own = Object.fromEntries(
    Object.entries(headers).filter(([name]) => !OURS.some((one) => one === name)),
  )
  const reason = text('error')
  return {
    kept: { kind: 'unreadable', origin, reason, key, value, headers: own },
    now: await toEntry(
      { key, value, headers: own, offset: String(origin.offset) },
      origin.partition,
    ),
  }
}

/** The Kafka record to append again: the original entry, under its own key. */
export function toReplay({ kept: { key, value, headers } }: DeadLetter): LogMessage {
  return {
    key: key === null ? null : Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
    // No time, so it gets the present one: by its original time, retention could delete it unprojected.
    ...(headers !== undefined && { headers: headers as IHeaders }),
  }
}

/** The present contents of the topic, partition by partition. */
export async function* readDeadLetters({
  bounds,
  tail,
}: {
  bounds: () => Promise<readonly Bounds[]>
  tail: (signal: AbortSignal) => AsyncIterable<TailItemOf<DeadLetter>>
}): AsyncGenerator<DeadLetters, void> {
  const ends = new Map(
    (await bounds())
      .filter(({ low, high }) => low < high)
      .map(({ partition, high }) => [partition, high - 1]),
  )
  if (ends.size === 0) return
  const ending = new AbortController()
  try {
    for await (const item of tail(ending.signal)) {
      if (item.kind === 'gap') continue
      const { partition, lastOffset: offset, entries } = item
      if (ends.has(partition)) yield { letters: entries, upTo: { partition, offset } }
      if (offset >= (ends.get(partition) ?? -1)) ends.delete(partition)
      if (ends.size === 0) return
    }
  } finally {
    ending.abort()
  }
}
