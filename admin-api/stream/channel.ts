import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Erasures } from '../../store/read-models.ts'
import { startLiveFeed, type LiveFeed, type ReadableLog } from './live-feed.ts'
import type { StatusStore } from './status-changes.ts'
import { statusWatch, type StatusWatch } from './status-watch.ts'

export type ChannelOptions = {
  /** Size of the ring that readers share: entries, and approximate bytes. */
  readonly ringEntries: number
  readonly ringBytes: number
  readonly retryMs: number
  readonly statusEveryMs: number
  /** How long the log is read after the last reader has left. */
  readonly lingersMs: number
}

/** Shared by the readers of a process; reads the log only while there are any. */
export type Channel = {
  /** Adds a reader of this account; it calls `leave` once, when it goes. */
  join(accountId: string): { readonly feed: LiveFeed; readonly leave: () => void }
}

type Open = { readonly feed: LiveFeed; readonly watch: StatusWatch; readonly end: () => void }

export function channel({
  eventLog,
  store,
  clock,
  logger,
  stopping,
  options: { ringEntries, ringBytes, retryMs, statusEveryMs, lingersMs },
}: {
  eventLog: ReadableLog
  store: StatusStore & Pick<Erasures, 'erasuresOf'>
  clock: Clock
  logger: Logger
  stopping: AbortSignal
  options: ChannelOptions
}): Channel {
  let open: Open | undefined
  let readers = 0
  let lingering: NodeJS.Timeout | undefined
  stopping.addEventListener('abort', close)

  function start(): Open {
    const ending = new AbortController()
    const feed = startLiveFeed({
      eventLog,
      store,
      logger,
      signal: ending.signal,
      ringEntries,
      ringBytes,
      retryMs,
      onPosition: (event, origin) => watch.reported(event, origin),
    })
    const watch = statusWatch({ feed, store, clock, logger, everyMs: statusEveryMs })
    return { feed, watch, end: () => ending.abort() }
  }

  function close(): void {
    clearTimeout(lingering)
    open?.end()
    open = undefined
  }

  return {
    join(accountId) {
      clearTimeout(lingering)
      open ??= start()
      readers += 1
      const { feed, watch } = open
      const unfollow = watch.follow(accountId)
      return {
        feed,
        leave() {
          unfollow()
          readers -= 1
          if (readers === 0) lingering = setTimeout(close, lingersMs).unref()
        },
      }
    },
  }
}
