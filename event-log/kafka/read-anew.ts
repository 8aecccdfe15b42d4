import { backOff } from '../../runtime/repeat.ts'
import { kafkaFailure, type Logger } from './connection.ts'

/** A reader that ran this long counts as working, even if there was nothing to read. */
const WORKED_AFTER_MS = 120_000

/**
 * Reads until `signal` is aborted. When a kafkajs consumer gives up or stalls, a new one takes
 * over. Rejects when none has worked for `givenUpAfterMs`.
 */
export async function readAnew({
  read,
  groupId,
  signal,
  logger,
  onAnew,
  givenUpAfterMs,
}: {
  /** Reads with a new consumer; calls `worked` whenever it makes progress. */
  read: (worked: () => void) => Promise<void>
  groupId: string
  signal: AbortSignal
  logger: Logger
  onAnew: () => void
  givenUpAfterMs: number
}): Promise<void> {
  const pauses = backOff({ firstMs: 500, longestMs: 15_000 })
  let workedAt = performance.now()
  const worked = () => {
    workedAt = performance.now()
    pauses.reset()
  }
  for (;;) {
    const begun = performance.now()
    try {
      return await read(worked)
    } catch (error) {
      if (signal.aborted) return
      if (performance.now() - begun > WORKED_AFTER_MS) worked()
      if (performance.now() - workedAt > givenUpAfterMs) {
        throw kafkaFailure(`be read as ${groupId}`, error)
      }
      logger.warn({ err: error, groupId }, 'reading begins anew')
    }
    await pauses.pause(signal)
    if (signal.aborted) return
    onAnew()
  }
}
