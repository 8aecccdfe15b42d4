import { backOff } from '../../runtime/repeat.ts'
import type { Offsets } from '../../schemas/read-models.ts'
import { kafkaFailure, type KafkaClient, type Logger } from './connection.ts'
import { beGroupMember, withHeartbeats, type Chunk } from './group-member.ts'
import { stallWatch, type Progress } from './stall-watch.ts'

/** A reader that ran this long counts as working, even if there was nothing to read. */
const WORKED_AFTER_MS = 120_000

export type Consumption<Batch> = {
  readonly newClient: () => KafkaClient
  readonly groupId: string
  readonly topic: string
  /** Where the group starts, instead of at its committed offsets. */
  readonly resumeAfter?: Offsets | undefined
  /** Reads a chunk, once; undefined if there is nothing in it to deliver. */
  readonly toBatch: (chunk: Chunk) => Promise<Batch | undefined>
  readonly onBatch: (batch: Batch) => Promise<void>
  /** Asks the broker for the group's progress in these partitions. */
  readonly progress: (partitions: readonly number[]) => Promise<Progress>
  readonly onAnew: () => void
  readonly givenUpAfterMs: number
  readonly signal: AbortSignal
  readonly logger: Logger
}

/**
 * Delivers a topic to one member of a group and commits after each processed batch, until `signal` is
 * aborted. Replaces a kafkajs consumer that has crashed or stalled; rejects when none has worked for
 * `givenUpAfterMs`.
 */
export async function consume<Batch>(consumption: Consumption<Batch>): Promise<void> {
  const { groupId, signal, onAnew, givenUpAfterMs, logger } = consumption
  const pauses = backOff({ firstMs: 500, longestMs: 15_000 })
  const begun = new Set<number>()
  let workedAt = performance.now()
  const worked = () => {
    workedAt = performance.now()
    pauses.reset()
  }
  for (;;) {
    const beganAt = performance.now()
    try {
      return await consumeOnce(consumption, { begun, worked })
    } catch (error) {
      if (signal.aborted) return
      if (performance.now() - beganAt > WORKED_AFTER_MS) worked()
      if (performance.now() - workedAt > givenUpAfterMs) {
        throw kafkaFailure(`be read as ${groupId}`, error)
      }
      logger.warn({ err: error, groupId }, 'reading starts again')
    }
    await pauses.pause(signal)
    if (signal.aborted) return
    onAnew()
  }
}

/** With one kafkajs consumer; `begun` has the partitions in which an earlier one has started. */
async function consumeOnce<Batch>(
  consumption: Consumption<Batch>,
  { begun, worked }: { begun: Set<number>; worked: () => void },
): Promise<void> {
  const { newClient, groupId, topic, resumeAfter, progress, signal, logger } = consumption
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
      const done = await watch.during(() => deliver(chunk, consumption))
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

/**
 * Tries until the chunk has been taken, with growing pauses. Resolves with false when it no longer
 * belongs to this member.
 */
async function deliver<Batch>(
  chunk: Chunk,
  { groupId, toBatch, onBatch, signal, logger }: Consumption<Batch>,
): Promise<boolean> {
  const { partition, messages, heartbeat, isCurrent } = chunk
  const pauses = backOff({ firstMs: 100, longestMs: 2000 })
  let batch: Batch | undefined
  for (;;) {
    try {
      await withHeartbeats(heartbeat, async () => {
        batch ??= await toBatch(chunk)
        if (batch !== undefined) await onBatch(batch)
      })
      return true
    } catch (error) {
      const { offset } = messages[0]!
      logger.warn({ err: error, groupId, partition, offset }, 'subscription pauses')
    }
    await pauses.pause(signal)
    if (!isCurrent()) return false
    await heartbeat()
  }
}
