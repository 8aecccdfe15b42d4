import type { LogEntry, Subscription } from '../event-log.ts'
import type { KafkaClient, Logger } from './connection.ts'
import { beGroupMember, type Chunk } from './group-member.ts'
import { stallWatch, type Progress } from './stall-watch.ts'
import { untilTaken } from './until-taken.ts'

/**
 * Delivers the topic to one member of the group, commits after each batch that was taken, and
 * rejects when this process cannot go on: kafkajs ended its consumer for good, or stands still.
 */
export async function subscribe({
  subscription: { group: _group, resumeAfter, onBatch, signal },
  client,
  groupId,
  topic,
  toEntry,
  progress,
  logger,
}: {
  subscription: Subscription
  client: KafkaClient
  groupId: string
  topic: string
  toEntry: (message: Chunk['messages'][number], partition: number) => Promise<LogEntry>
  /** Asks the broker where the group stands in these partitions. */
  progress: (partitions: readonly number[]) => Promise<Progress>
  logger: Logger
}): Promise<void> {
  const begun = new Set<number>()
  const watch = stallWatch({ groupId, progress, logger })
  const ending = new AbortController()
  const end = () => ending.abort()
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  try {
    await Promise.race([
      watch.stalled,
      beGroupMember({
        client,
        groupId,
        topic,
        commit: true,
        onJoin: (partitions) => watch.assigned(partitions),
        // Only the first time: later the group has committed what this member, or another, did.
        startOf(partition) {
          if (resumeAfter === undefined || begun.has(partition)) return undefined
          begun.add(partition)
          return (resumeAfter[partition] ?? -1) + 1
        },
        deal: (chunk) => watch.during(() => deal(chunk)),
        signal: ending.signal,
        logger,
      }),
    ])
  } finally {
    watch.stop()
    signal.removeEventListener('abort', end)
    end()
  }

  function deal(chunk: Chunk): Promise<boolean> {
    const { partition, messages } = chunk
    return untilTaken(chunk, { groupId, signal, logger }, async () => {
      const entries = await Promise.all(messages.map((message) => toEntry(message, partition)))
      await onBatch({ partition, lastOffset: Number(messages.at(-1)!.offset), entries })
    })
  }
}
