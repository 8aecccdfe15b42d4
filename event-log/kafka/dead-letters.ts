import type { IHeaders, KafkaMessage, Message } from 'kafkajs'
import type { DeadLetter, DeadLetters } from '../dead-letters.ts'
import type { LogEntry, UnreadableEntry } from '../event-log.ts'
import type { Bounds } from './offsets.ts'
import type { TailItemOf } from './tail.ts'

/** What says where an entry stood; its own headers stand beside these. */
const OURS = ['error', 'topic', 'partition', 'offset'] as const

/** The record of a dead letter: key, value and headers as they were, and where it came from. */
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
  } satisfies Message
}

/** The entry of a dead letter as it was, and what it is read as now. */
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

/** The record that is appended again: what the entry was, under its own key. */
export function toReplay({ kept: { key, value, headers } }: DeadLetter): Message {
  return {
    key: key === null ? null : Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
    // Its time is now, or a retention that goes by it could take it before it is projected.
    ...(headers !== undefined && { headers: headers as IHeaders }),
  }
}

/** What the topic holds at the moment, partition by partition. */
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
