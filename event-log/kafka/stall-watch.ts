import { DependencyError } from '../../runtime/errors.ts'
import type { Logger } from './kafka-client.ts'

const STALLED_AFTER_MS = 60_000
const LOOK_EVERY_MS = 10_000

/** A group's progress: committed offsets as one text, and whether there is more to read. */
export type GroupProgress = { readonly position: string; readonly behind: boolean }

export type StallWatch = {
  /** Rejects after a minute without progress if there is something to read. */
  readonly stalled: Promise<never>
  assigned(partitions: readonly number[]): void
  /** While a batch is being processed, no stall is detected. */
  during<T>(work: () => Promise<T>): Promise<T>
  stop(): void
}

/** kafkajs sometimes stalls forever without an error; only a restart helps. */
export function stallWatch({
  groupId,
  progress,
  logger,
  stalledAfterMs = STALLED_AFTER_MS,
  lookEveryMs = LOOK_EVERY_MS,
}: {
  groupId: string
  progress: (partitions: readonly number[]) => Promise<GroupProgress>
  logger: Logger
  stalledAfterMs?: number
  lookEveryMs?: number
}): StallWatch {
  let partitions: readonly number[] = []
  let busy = 0
  let last: string | undefined
  let movedAt = performance.now()
  let reject: (error: Error) => void = () => undefined
  const stalled = new Promise<never>((_, rejectStalled) => (reject = rejectStalled))
  let looking = false
  const timer = setInterval(() => {
    if (looking) return
    looking = true
    look().then(() => (looking = false), reject)
  }, lookEveryMs)
  timer.unref()

  return {
    stalled,
    assigned(given) {
      partitions = given
      noteProgress()
    },
    async during(work) {
      busy += 1
      try {
        return await work()
      } finally {
        busy -= 1
        noteProgress()
      }
    },
    stop: () => clearInterval(timer),
  }

  function noteProgress() {
    movedAt = performance.now()
  }

  async function look() {
    if (busy > 0) return noteProgress()
    try {
      const { position, behind } = await progress(partitions)
      if (!behind || position !== last) noteProgress()
      last = position
    } catch (error) {
      // While Kafka is unavailable there can be no progress.
      logger.debug({ err: error, groupId }, 'could not read the progress of a consumer')
      return noteProgress()
    }
    if (performance.now() - movedAt < stalledAfterMs) return
    reject(
      new DependencyError(`reading as ${groupId} has made no progress for ${stalledAfterMs} ms`, {
        retriable: false,
      }),
    )
  }
}
