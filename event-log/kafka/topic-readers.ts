import { randomUUID } from 'node:crypto'
import type { EventLog } from '../event-log.ts'
import type { AdminClient } from './admin.ts'
import type { KafkaClient, Logger } from './kafka-client.ts'
import { consume, type Consumption } from './consumer.ts'
import { bounds, progressOf, type OffsetBounds } from './offsets.ts'
import type { PreparedTopics } from './prepared-topics.ts'
import { tail, type TailItemOf, type TailOptions } from './tail.ts'

/** The readers of one topic. */
export type TopicReaders = {
  /** Reads until `signal` is aborted or the log is closed. */
  subscribe<Batch>(
    subscription: { readonly group: string } & Pick<
      Consumption<Batch>,
      'resumeAfter' | 'toBatch' | 'onBatch' | 'givenUpAfterMs' | 'signal'
    >,
  ): Promise<void>
  tail<Entry>(
    options: Parameters<EventLog['tail']>[0] & Pick<TailOptions<Entry>, 'toEntry'>,
  ): AsyncGenerator<TailItemOf<Entry>, void>
  bounds(): Promise<OffsetBounds[]>
}

/** Members of groups and live readers of all topics. They end when `closing` is aborted. */
export function readersOfTopics({
  prepared,
  admin,
  newClient,
  groupIdOf,
  onAnew,
  closing,
  logger,
}: {
  prepared: PreparedTopics
  admin: AdminClient
  newClient: (options: { retries: number }) => KafkaClient
  groupIdOf: (group: string) => string
  onAnew: () => void
  closing: AbortSignal
  logger: Logger
}) {
  const running = new Set<Promise<void>>()

  return {
    of: (topic: string): TopicReaders => ({
      async subscribe({ group, signal, ...subscription }) {
        const ended = AbortSignal.any([signal, closing])
        if (!(await prepared.readyBefore(ended))) return
        const groupId = groupIdOf(group)
        const done = consume({
          ...reading(topic, groupId),
          ...subscription,
          progress: (partitions, next) =>
            admin.ask('read the offsets of a group', (client) =>
              progressOf(client, { topic, groupId }, { partitions, next }),
            ),
          async firstHeld(partition) {
            const held = await boundsOf(topic)
            return held.find((one) => one.partition === partition)?.low ?? 0
          },
          onAnew,
          signal: ended,
        }).finally(() => running.delete(done))
        running.add(done)
        await done
      },

      async *tail({ signal, ...options }) {
        const ended = AbortSignal.any([signal, closing])
        if (!(await prepared.readyBefore(ended))) return
        const groupId = groupIdOf(`tail-${randomUUID()}`)
        const readBounds = () => boundsOf(topic)
        yield* tail({ ...reading(topic, groupId), ...options, signal: ended, bounds: readBounds })
      },

      async bounds() {
        prepared.require()
        return boundsOf(topic)
      },
    }),

    /** Resolves when every group member has ended. */
    async ended(): Promise<void> {
      await Promise.allSettled(running)
    },
  }

  function boundsOf(topic: string): Promise<OffsetBounds[]> {
    return admin.ask('report its offsets', (client) => bounds(client, topic))
  }

  function reading(topic: string, groupId: string) {
    return { newClient: () => newClient({ retries: 5 }), groupId, topic, logger }
  }
}
