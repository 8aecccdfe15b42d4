import { backOff } from '../../runtime/process/repeat.ts'
import type { Offsets } from '../../schemas/devices/read-models.ts'
import { kafkaFailure, type KafkaClient, type Logger } from './kafka-client.ts'
import { joinGroup, runWithHeartbeats, type Chunk } from './group-member.ts'
import { stallWatch, type GroupProgress } from './stall-watch.ts'

/** A reader that ran this long counts as working, even if there was nothing to read. */
const WORKED_AFTER_MS = 120_000

export type Consumption<Batch> = {
  readonly newClient: () => KafkaClient
  readonly groupId: string
  readonly topic: string
  /** Offsets where the group starts after each assignment, instead of the committed offsets. */
  readonly resumeAfter?: (() => Promise<Offsets>) | undefined
  /**
   * Decodes a chunk; called once per chunk. Undefined if it has nothing to deliver. `after`: the
   * offset that the chunk follows, if `resumeAfter` named one for its partition.
   */
  readonly toBatch: (chunk: Chunk, after: number | undefined) => Promise<Batch | undefined>
  readonly onBatch: (batch: Batch) => Promise<void>
  /**
   * Asks the broker for the group's progress in these partitions. `next` has the next offsets that
   * are known here.
   */
  readonly progress: (
    partitions: readonly number[],
    next: ReadonlyMap<number, number>,
  ) => Promise<GroupProgress>
  /** The first offset that a partition still holds. */
  readonly firstHeld: (partition: number) => Promise<number>
  readonly onAnew: () => void
  readonly givenUpAfterMs: number
  readonly signal: AbortSignal
  readonly logger: Logger
}

/**
 * Delivers a topic to one member of a group and commits after each processed batch, until `signal`
 * is aborted. Replaces a kafkajs consumer that has crashed or stalled; rejects if no consumer has
 * worked for `givenUpAfterMs`.
 */
export async function consume<Batch>(consumption: Consumption<Batch>): Promise<void> {
  const { groupId, signal, onAnew, givenUpAfterMs, logger } = consumption
  const pauses = backOff({ firstMs: 500, longestMs: 15_000 })
  let workedAt = performance.now()
  const worked = () => {
    workedAt = performance.now()
    pauses.reset()
  }
  for (;;) {
    const beganAt = performance.now()
    try {
      return await consumeOnce(consumption, worked)
    } catch (error) {
      if (signal.aborted) return
      if (performance.now() - beganAt > WORKED_AFTER_MS) worked()
      if (performance.now() - workedAt > givenUpAfterMs) {
        throw kafkaFailure(`be read as ${groupId}`, error)
      }
      logger.warn({ err: error, groupId }, 'restarting a consumer')
    }
    await pauses.pause(signal)
    if (signal.aborted) return
    onAnew()
  }
}

/** Runs a single kafkajs consumer. */
async function consumeOnce<Batch>(
  consumption: Consumption<Batch>,
  worked: () => void,
): Promise<void> {
  const { newClient, groupId, topic, resumeAfter, progress, signal, logger } = consumption
  const next = new Map<number, number>()
  const watch = stallWatch({
    groupId,
    logger,
    progress: (partitions) => progress(partitions, next),
  })
  const ending = new AbortController()
  const ended = AbortSignal.any([signal, ending.signal])
  const member = joinGroup({
    client: newClient(),
    groupId,
    topic,
    commit: true,
    async startAt(partitions) {
      watch.assigned(partitions)
      next.clear()
      const after = await askUntilAnswered(resumeAfter, { groupId, signal: ended, logger })
      if (after === undefined) return new Map()
      for (const partition of partitions) next.set(partition, (after[partition] ?? -1) + 1)
      return new Map(next)
    },
    async deal(chunk) {
      const { partition, lastOffset } = chunk
      const due = next.get(partition)
      // Refused chunks do not count as progress: if only those arrive, the reader is stalled.
      if (due !== undefined && !(await isContinuedAt(due, chunk, consumption))) return false
      if (!(await watch.during(() => deliver(chunk, due, consumption)))) return false
      next.set(partition, lastOffset + 1)
      worked()
      return true
    },
    signal: ended,
    logger,
  })
  try {
    await Promise.race([watch.stalled, member])
  } finally {
    watch.stop()
    ending.abort()
  }
}

/** Asks until there is a response; undefined if there is nothing to ask, or `signal` is aborted. */
async function askUntilAnswered(
  resumeAfter: Consumption<never>['resumeAfter'],
  { groupId, signal, logger }: { groupId: string; signal: AbortSignal; logger: Logger },
): Promise<Offsets | undefined> {
  const pauses = backOff({ firstMs: 100, longestMs: 2000 })
  while (!signal.aborted) {
    try {
      return await resumeAfter?.()
    } catch (error) {
      logger.warn({ err: error, groupId }, 'consumer has no committed offset yet')
    }
    await pauses.pause(signal)
  }
  return undefined
}

/**
 * Whether a chunk continues at the offset that is due. A later chunk was fetched before an
 * assignment that moved this member back, unless retention has deleted the entries in between.
 */
async function isContinuedAt<Batch>(
  due: number,
  { partition, messages, firstOffset, lastOffset }: Chunk,
  { firstHeld, groupId, logger }: Consumption<Batch>,
): Promise<boolean> {
  if (messages.length === 0 && lastOffset < due) return false
  if (firstOffset <= due) return true
  try {
    return firstOffset <= (await firstHeld(partition))
  } catch (error) {
    logger.warn({ err: error, groupId, partition, offset: due }, 'consumer paused; retrying')
    return false
  }
}

/**
 * Retries with growing pauses until the chunk is processed. Resolves with false when it no longer
 * belongs to this member.
 */
async function deliver<Batch>(
  chunk: Chunk,
  due: number | undefined,
  { groupId, toBatch, onBatch, signal, logger }: Consumption<Batch>,
): Promise<boolean> {
  const { partition, firstOffset: offset, heartbeat, isCurrent } = chunk
  const pauses = backOff({ firstMs: 100, longestMs: 2000 })
  let batch: Batch | undefined
  for (;;) {
    try {
      await runWithHeartbeats(heartbeat, async () => {
        batch ??= await toBatch(chunk, due === undefined ? undefined : due - 1)
        if (batch !== undefined) await onBatch(batch)
      })
      return true
    } catch (error) {
      logger.warn({ err: error, groupId, partition, offset }, 'consumer paused; retrying')
    }
    await pauses.pause(signal)
    if (!isCurrent()) return false
    await heartbeat()
  }
}
