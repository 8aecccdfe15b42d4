import { setImmediate as endOfTurn } from 'node:timers/promises'
import { DependencyError } from '../../runtime/errors.ts'
import type { LogBatch, TailItem } from '../event-log.ts'
import { type BatchReader, PARTITION } from './batch-reader.ts'
import { sleepers } from './sleepers.ts'

/** Another process may append to the file too, and nothing but looking tells of it. */
const LOOK_AGAIN_MS = 200
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2000
const COMMIT_EVERY_MS = 500

/** What the readers need of the log; each may throw a `DependencyError`. */
export type ReadableLog = {
  readonly read: BatchReader
  readonly commit: (group: string, offset: number) => void
  /** Everything up to this offset has been trimmed. */
  readonly trimmedUpTo: () => number
  readonly logger: { warn(fields: object, message: string): void }
}

export type LogReaders = {
  /** Resolves when `signal` is aborted or the readers are stopped, and the batch in hand is done. */
  deliver(delivery: Delivery): Promise<void>
  follow(options: { after: number; signal: AbortSignal }): AsyncGenerator<TailItem, void>
  /** Tells that there is something new to read. */
  appended(): void
  /** Resolves when every reader has ended. */
  stop(): Promise<void>
}

export type Delivery = {
  readonly group: string
  readonly after: number
  readonly onBatch: (batch: LogBatch) => Promise<void>
  readonly signal: AbortSignal
  /**
   * Whether the group resumes by what is committed. Where it has a mark of its own, catching up
   * commits only now and then: each commit makes appends wait.
   */
  readonly resumesByCommit: boolean
}

export function logReaders({ read, commit, trimmedUpTo, logger }: ReadableLog): LogReaders {
  const waitingForMore = sleepers()
  const waitingForBetterTimes = sleepers()
  const delivering = new Set<Promise<void>>()
  let stopped = false

  return {
    deliver(delivery) {
      const done = deliver(delivery).finally(() => delivering.delete(done))
      delivering.add(done)
      return done
    },

    follow,

    appended: () => waitingForMore.wakeAll(),

    async stop() {
      stopped = true
      waitingForMore.wakeAll()
      waitingForBetterTimes.wakeAll()
      await Promise.allSettled(delivering)
    },
  }

  async function deliver(delivery: Delivery): Promise<void> {
    const { group, after: start, onBatch, signal, resumesByCommit } = delivery
    const ended = () => stopped || signal.aborted
    let after = start
    let committed = start
    let committedAt = performance.now()
    while (!ended()) {
      const batch = await untilDone('read', async () => read(after), isPassing)
      if (batch === 'given up') break
      if (batch === undefined) {
        await keepCommitted()
        await waitingForMore.sleep(LOOK_AGAIN_MS, signal)
        continue
      }
      const delivered = await untilDone(
        'deliver',
        () => onBatch(batch),
        () => true,
      )
      if (delivered === 'given up') break
      after = batch.lastOffset
      const due = resumesByCommit || performance.now() - committedAt >= COMMIT_EVERY_MS
      if (due) await keepCommitted()
      // While catching up, whatever else runs in this process has its turns in between.
      await endOfTurn()
    }
    await keepCommitted()

    async function keepCommitted(): Promise<void> {
      if (after === committed) return
      await untilDone('commit', async () => commit(group, after), isPassing)
      committed = after
      committedAt = performance.now()
    }

    /** Tries, with growing pauses, until it succeeds, a failure is final, or the reader is to end. */
    async function untilDone<T>(
      step: string,
      attempt: () => Promise<T>,
      mayPass: (error: unknown) => boolean,
    ): Promise<T | 'given up'> {
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
        try {
          return await attempt()
        } catch (error) {
          if (!mayPass(error)) throw error
          logger.warn({ err: error, group, after, step, pauseMs }, 'subscription pauses')
        }
        if (!ended()) await waitingForBetterTimes.sleep(pauseMs, signal)
        if (ended()) return 'given up'
      }
    }
  }

  async function* follow({
    after: start,
    signal,
  }: {
    after: number
    signal: AbortSignal
  }): AsyncGenerator<TailItem, void> {
    let after = start
    while (!stopped && !signal.aborted) {
      const gone = trimmedUpTo()
      if (after < gone) {
        after = gone
        yield { kind: 'gap', partition: PARTITION }
        continue
      }
      const batch = read(after)
      if (batch === undefined) {
        await waitingForMore.sleep(LOOK_AGAIN_MS, signal)
        continue
      }
      after = batch.lastOffset
      yield { kind: 'batch', ...batch }
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof DependencyError && error.retriable
}
