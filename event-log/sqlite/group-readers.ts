import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { DependencyError } from '../../runtime/errors.ts'
import { sleepers } from '../../runtime/process/repeat.ts'

/**
 * Another process may also append to the file; only polling detects that. Without devices this is
 * most of what the process does.
 */
export const LOOK_AGAIN_MS = 1_000
/**
 * Minimum time from one batch to the next, by the number of its entries: a small batch costs a
 * reader about as much as a large one, so it waits for more entries, but only briefly when few are
 * reported.
 */
const LEAST_INTERVALS = [
  { fewerThan: 20, ms: 10 },
  { fewerThan: 400, ms: 40 },
]
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2000

export type WarningLogger = { warn(fields: object, message: string): void }

/** The result of one read of a table; reading continues after `lastOffset`. */
export type Readable<Batch extends { readonly lastOffset: number }> = {
  /**
   * Reads the next batch; undefined if nothing follows the offset yet. May throw a
   * `DependencyError`.
   */
  readonly read: (after: number) => Batch | undefined
  /**
   * Stores a group's progress, for groups that do not keep it. May reject with a `DependencyError`.
   */
  readonly commit?: (group: string, offset: number) => Promise<void>
  readonly logger: WarningLogger
}

export type GroupReaders<Batch> = {
  /**
   * Resolves once `signal` is aborted or the readers are stopped, and the current batch is done.
   */
  deliver(delivery: Delivery<Batch>): Promise<void>
  /** Signals new entries. */
  appended(): void
  /** Resolves when every reader has ended. */
  stop(): Promise<void>
}

export type Delivery<Batch> = {
  readonly group: string
  readonly after: number
  readonly onBatch: (batch: Batch) => Promise<void>
  readonly signal: AbortSignal
}

/** Delivers an append-only table to groups, each from its own offset. */
export function groupReaders<Batch extends { readonly lastOffset: number }>({
  read,
  commit,
  logger,
}: Readable<Batch>): GroupReaders<Batch> {
  const waitingForMore = sleepers()
  const spacing = sleepers()
  const backingOff = sleepers()
  const delivering = new Set<Promise<void>>()
  let stopped = false

  return {
    deliver(delivery) {
      const done = deliver(delivery).finally(() => delivering.delete(done))
      delivering.add(done)
      return done
    },

    appended: () => waitingForMore.wakeAll(),

    async stop() {
      stopped = true
      for (const some of [waitingForMore, spacing, backingOff]) some.wakeAll()
      await Promise.allSettled(delivering)
    },
  }

  async function deliver(delivery: Delivery<Batch>): Promise<void> {
    const { group, after: start, onBatch, signal } = delivery
    const ended = () => stopped || signal.aborted
    let after = start
    let committed = start
    while (!ended()) {
      const readAt = performance.now()
      const batch = await retryUntilDone('read', async () => read(after), isPassing)
      if (batch === 'given up') break
      if (batch === undefined) {
        await keepCommitted()
        await waitingForMore.sleep(LOOK_AGAIN_MS, signal)
        continue
      }
      const delivered = await retryUntilDone(
        'deliver',
        () => onBatch(batch),
        () => true,
      )
      if (delivered === 'given up') break
      const entries = batch.lastOffset - after
      after = batch.lastOffset
      await keepCommitted()
      const least = LEAST_INTERVALS.find(({ fewerThan }) => entries < fewerThan)
      const leftMs = (least?.ms ?? 0) - (performance.now() - readAt)
      if (leftMs > 0 && !stopped) await spacing.sleep(leftMs, signal)
      // Lets other work in this process run while catching up.
      await endOfTurn()
    }
    await keepCommitted()

    async function keepCommitted(): Promise<void> {
      if (commit === undefined || after === committed) return
      await retryUntilDone('commit', () => commit(group, after), isPassing)
      committed = after
    }

    /** Retries with growing pauses until success, a final failure, or the reader's end. */
    async function retryUntilDone<T>(
      step: string,
      attempt: () => Promise<T>,
      mayPass: (error: unknown) => boolean,
    ): Promise<T | 'given up'> {
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
        try {
          return await attempt()
        } catch (error) {
          if (!mayPass(error)) throw error
          logger.warn({ err: error, group, after, step, pauseMs }, 'consumer paused; retrying')
        }
        if (!ended()) await backingOff.sleep(pauseMs, signal)
        if (ended()) return 'given up'
      }
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof DependencyError && error.retriable
}
