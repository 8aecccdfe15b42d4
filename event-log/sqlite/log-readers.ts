import type { LogBatch, TailItem } from '../event-log.ts'
import { PARTITION } from './batch-reader.ts'
import { groupReaders, LOOK_AGAIN_MS, type GroupReaders, type Readable } from './group-readers.ts'
import { sleepers } from './sleepers.ts'

/** What the readers need of the log; each may throw a `DependencyError`. */
export type ReadableLog = Readable<LogBatch> & {
  /** Everything up to this offset has been trimmed. */
  readonly trimmedUpTo: () => number
}

export type LogReaders = GroupReaders<LogBatch> & {
  follow(options: { after: number; signal: AbortSignal }): AsyncGenerator<TailItem, void>
}

/** Groups that are delivered to, and live readers that belong to none. */
export function logReaders({ trimmedUpTo, ...log }: ReadableLog): LogReaders {
  const groups = groupReaders(log)
  const waitingForMore = sleepers()
  let stopped = false

  return {
    deliver: (delivery) => groups.deliver(delivery),

    follow,

    appended() {
      groups.appended()
      waitingForMore.wakeAll()
    },

    async stop() {
      stopped = true
      waitingForMore.wakeAll()
      await groups.stop()
    },
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
      const batch = log.read(after)
      if (batch === undefined) {
        await waitingForMore.sleep(LOOK_AGAIN_MS, signal)
        continue
      }
      after = batch.lastOffset
      yield { kind: 'batch', ...batch }
    }
  }
}
