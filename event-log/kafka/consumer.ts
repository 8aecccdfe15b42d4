import type { LogEntry, Subscription } from '../event-log.ts'
import type { KafkaClient, Logger } from './connection.ts'
import { beGroupMember, type Chunk } from './group-member.ts'
import { readAnew } from './read-anew.ts'
import { stallWatch, type Progress } from './stall-watch.ts'
import { untilTaken } from './until-taken.ts'

/**
 * Delivers the topic to one member of the group and commits after each processed batch. Replaces a
 * kafkajs consumer that has crashed or stalled; rejects when none has worked for `givenUpAfterMs`.
 */
export async function subscribe({
  subscription: { resumeAfter, onBatch, signal },
  newClient,
  groupId,
  topic,
  toEntry,
  progress,
  onAnew,
  givenUpAfterMs,
  logger,
}: {
  subscription: Omit<Subscription, 'group'>
  newClient: () => KafkaClient
  groupId: string
  topic: string
  toEntry: (message: Chunk['messages'][number], partition: number) => Promise<LogEntry>
  /** Asks the broker for the group's progress in these partitions. */
  progress: (partitions: readonly number[]) => Promise<Progress>
  onAnew: () => void
  givenUpAfterMs: number
  logger: Logger
}): Promise<void> {
  const begun = new Set<number>()
  await readAnew({ read, groupId, signal, onAnew, givenUpAfterMs, logger })

  async function read(worked: () => void): Promise<void> {
    const watch = stallWatch({ groupId, progress, logger })
    const ending = new AbortController()
    const member = beGroupMember({
      client: newClient(),
      groupId,
      topic,
      commit: true,
      onJoin: (partitions) => watch.assigned(partitions),
      // Only the first time: later, this member or another has committed for the group.
      startOf(partition) {
        if (resumeAfter === undefined || begun.has(partition)) return undefined
        begun.add(partition)
        return (resumeAfter[partition] ?? -1) + 1
      },
      async deal(chunk) {
        const done = await watch.during(() => deal(chunk))
        if (done) worked()
        return done
      },
      signal: AbortSignal.any([signal, ending.signal]),
      logger,
    })
    try {
      await Promise.race([watch.stalled, member])
    } finally {
      watch.stop()
      ending.abort()
    }
  }

  function deal(chunk: Chunk): Promise<boolean> {
    const { partition, messages } = chunk
    return untilTaken(chunk, { groupId, signal, logger }, async () => {
      const entries = await Promise.all(messages.map((message) => toEntry(message, partition)))
      await onBatch({ partition, lastOffset: Number(messages.at(-1)!.offset), entries })
    })
  }
}
