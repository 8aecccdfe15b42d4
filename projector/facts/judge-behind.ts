import { jsonSize } from '../../runtime/json-size.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import { repeatUntilSuccess } from '../../runtime/process/repeat.ts'
import { WentBackError } from '../../store/read-models.ts'
import type { JudgeBatch, ProjectedBatch, ProjectedChange } from './judge-batch.ts'

/**
 * Size of events as JSON; in memory they take two to four times as much. Projecting pauses while
 * more than this waits to be judged.
 */
const MOST_WAITING_BYTES = 32 * 2 ** 20

type Waiting = {
  readonly batch: ProjectedBatch
  readonly changes: readonly ProjectedChange[]
  readonly bytes: number
}

/**
 * Judges batches in order, after projecting them, so that a batch with many alarms does not delay
 * the projection of later reports. `judge` resolves once more batches may wait. A batch that fails
 * is retried. When `signal` is aborted, the current one is finished; the others are read again
 * after the next start.
 */
export function judgeBehind(
  facts: JudgeBatch,
  {
    publishes,
    onWentBack,
    logger,
    signal,
    mostWaitingBytes = MOST_WAITING_BYTES,
  }: {
    /** Whether facts are published to a topic, where no fact may follow its device's erasure. */
    readonly publishes: boolean
    /**
     * The facts have been replaced by older facts than those the batches follow: aborts `signal`.
     */
    readonly onWentBack: (error: WentBackError) => void
    readonly logger: Logger
    readonly signal: AbortSignal
    readonly mostWaitingBytes?: number
  },
): JudgeBatch & { ended(): Promise<void> } {
  const waiting: Waiting[] = []
  let waitingBytes = 0
  let isJudging = false
  let ended = Promise.resolve()
  /** Waits until the first waiting batch is judged. */
  let first = Promise.resolve()
  /** Waits until it has been attempted. */
  let attempted = Promise.resolve()

  async function judgeWaiting(): Promise<void> {
    isJudging = true
    for (let next = waiting[0]; next !== undefined && !signal.aborted; next = waiting[0]) {
      first = judge(next)
      await first
      waiting.shift()
      waitingBytes -= next.bytes
    }
    isJudging = false
  }

  function judge({ batch, changes }: Waiting): Promise<void> {
    const attempt = async () => {
      const judging = facts.judge(batch, changes)
      attempted = judging.catch(() => undefined)
      try {
        await judging
      } catch (error) {
        if (!(error instanceof WentBackError)) throw error
        onWentBack(error)
      }
    }
    return repeatUntilSuccess(attempt, { logger, signal, failure: 'judging failed; retrying' })
  }

  return {
    progress: () => facts.progress(),
    lastJudged: () => facts.lastJudged(),

    /** The device's waiting entries precede its erasure, and no longer decide anything. */
    async erase(erasures) {
      if (publishes && erasures.length > 0) await attempted
      await facts.erase(erasures)
    },

    async judge(batch, changes) {
      const bytes = batch.entries.reduce((sum, { event }) => sum + jsonSize(event), 0)
      waiting.push({ batch, changes: changes.map(({ stored }) => ({ stored })), bytes })
      waitingBytes += bytes
      if (!isJudging) ended = judgeWaiting()
      while (waitingBytes > mostWaitingBytes && isJudging) await first
    },

    ended: () => ended,
  }
}
