import { randomUUID } from 'node:crypto'
import type { KafkaMessage } from 'kafkajs'
import type { EventLog, TailItem, UnreadableEntry } from '../event-log.ts'
import type { DeadLetter } from '../dead-letters.ts'
import type { AdminClient } from './admin.ts'
import { unavailable, type KafkaClient, type Logger } from './connection.ts'
import { subscribe } from './consumer.ts'
import { fromDeadLetter } from './dead-letters.ts'
import { toEntry } from './event-format.ts'
import { progressOf, type Bounds } from './offsets.ts'
import type { PreparedTopics } from './prepared-topics.ts'
import { subscribeRejections } from './rejections.ts'
import { tail, type TailItemOf } from './tail.ts'
import type { topicNames } from './topics.ts'

export type Readers = Pick<EventLog, 'subscribe' | 'subscribeRejections' | 'tail'> & {
  tailDeadLetters(signal: AbortSignal): AsyncIterable<TailItemOf<DeadLetter>>
  /** @throws {DependencyError} once an entry was met that this process lacks a variable to read. */
  requireVariables(): void
  /** Resolves when every group member has ended. */
  ended(): Promise<void>
}

const READERS_GIVEN_UP_AFTER_MS = 5 * 60_000

/** Members of groups and live readers. All of them end when `closing` is aborted. */
export function topicReaders({
  topics,
  prepared,
  admin,
  newClient,
  groupIdOf,
  boundsOf,
  onAnew,
  onFatal,
  givenUpAfterMs = READERS_GIVEN_UP_AFTER_MS,
  closing,
  logger,
}: {
  topics: ReturnType<typeof topicNames>
  prepared: PreparedTopics
  admin: AdminClient
  newClient: (options: { retries: number }) => KafkaClient
  groupIdOf: (group: string) => string
  boundsOf: (topic: string) => () => Promise<Bounds[]>
  onAnew: () => void
  onFatal: (error: Error) => void
  givenUpAfterMs: number | undefined
  closing: AbortSignal
  logger: Logger
}): Readers {
  const running = new Set<Promise<void>>()
  let missing: UnreadableEntry['missing']

  return {
    async subscribe(subscription) {
      const groupId = groupIdOf(subscription.group)
      const topic = topics.positions
      const progress = (partitions: readonly number[]) =>
        admin.ask('tell where a group stands', (client) =>
          progressOf(client, { topic, groupId }, partitions),
        )
      await whileOpen(subscription.signal, async (signal) => {
        await subscribe({
          ...reading(topic, groupId),
          ...{ toEntry: entryOf, progress, onAnew, givenUpAfterMs },
          subscription: { ...subscription, signal },
        })
      }).catch((error: unknown) => {
        const fatal = error instanceof Error ? error : new Error(String(error))
        onFatal(fatal)
        throw fatal
      })
    },

    async subscribeRejections({ group, onBatch, signal }) {
      const member = reading(topics.rejections, groupIdOf(group))
      await whileOpen(signal, (ended) =>
        subscribeRejections({ ...member, onBatch, onAnew, signal: ended }),
      )
    },

    async *tail({ after, signal }): AsyncGenerator<TailItem, void> {
      const ended = AbortSignal.any([signal, closing])
      if (!(await prepared.readyBefore(ended))) return
      yield* tail({
        ...reading(topics.positions, groupIdOf(`tail-${randomUUID()}`)),
        ...{ toEntry: entryOf, after, signal: ended, bounds: boundsOf(topics.positions) },
      })
    },

    tailDeadLetters: (signal) =>
      tail({
        ...reading(topics.deadLetters, groupIdOf(`dead-letters-${randomUUID()}`)),
        toEntry: (message: KafkaMessage) => fromDeadLetter(message, entryOf),
        after: {},
        signal: AbortSignal.any([signal, closing]),
        bounds: boundsOf(topics.deadLetters),
      }),

    requireVariables() {
      if (missing !== undefined) {
        throw unavailable(`the log holds events that cannot be read while ${missing} is not set`)
      }
    },

    async ended() {
      await Promise.allSettled(running)
    },
  }

  async function whileOpen(signal: AbortSignal, read: (ended: AbortSignal) => Promise<void>) {
    const ended = AbortSignal.any([signal, closing])
    if (!(await prepared.readyBefore(ended))) return
    const done = read(ended).finally(() => running.delete(done))
    running.add(done)
    await done
  }

  function reading(topic: string, groupId: string) {
    return { newClient: () => newClient({ retries: 5 }), groupId, topic, logger }
  }

  async function entryOf(message: Parameters<typeof toEntry>[0], partition: number) {
    const entry = await toEntry(message, partition, prepared.avro())
    if (entry.kind === 'unreadable') missing ??= entry.missing
    return entry
  }
}
