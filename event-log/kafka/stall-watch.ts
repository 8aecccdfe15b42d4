import { DependencyError } from '../../runtime/errors.ts'
import type { Logger } from './connection.ts'

const STALLED_AFTER_MS = 60_000
const LOOK_EVERY_MS = 10_000

/** Where a group stands: committed offsets as one text, and whether there is more to read. */
export type Progress = { readonly position: string; readonly behind: boolean }

export type StallWatch = {
  /** Rejects when nothing has moved for a minute although there is something to read. */
  readonly stalled: Promise<never>
  assigned(partitions: readonly number[]): void
  /** While a batch is being dealt with, whoever takes it decides how long that lasts. */
  during<T>(work: () => Promise<T>): Promise<T>
  stop(): void
}

/** kafkajs has been seen to stand still for ever without an error: then only a restart helps. */
export function stallWatch({
  groupId,
  progress,
  logger,
  stalledAfterMs = STALLED_AFTER_MS,
  lookEveryMs = LOOK_EVERY_MS,
}: {
  groupId: string
  progress: (partitions: readonly number[]) => Promise<Progress>
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
      moved()
    },
    async during(work) {
      busy += 1
      try {
        return await work()
      } finally {
        busy -= 1
        moved()
      }
    },
    stop: () => clearInterval(timer),
  }

  function moved() {
    movedAt = performance.now()
  }

  async function look() {
    if (busy > 0) return moved()
    try {
      const { position, behind } = await progress(partitions)
      if (!behind || position !== last) moved()
      last = position
    } catch (error) {
      // While Kafka is away there is nothing to make progress with.
      logger.debug({ err: error, groupId }, 'progress of a subscription is not known')
      return moved()
    }
    if (performance.now() - movedAt < stalledAfterMs) return
    reject(
      new DependencyError(`reading as ${groupId} has stood still for ${stalledAfterMs} ms`, {
        retriable: false,
      }),
    )
  }
}
