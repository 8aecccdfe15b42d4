import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/logger.ts'
import { periodically } from '../../runtime/periodically.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import type { Origin } from '../../schemas/read-models.ts'
import type { LiveFeed } from './live-feed.ts'
import { statusChanges, type StatusChanges, type StatusStore } from './status-changes.ts'

/** Tells stream readers when devices of their accounts change. */
export type StatusWatch = {
  /** Watches an account until every returned function has been called. */
  follow(accountId: string): () => void
  /** A position has been read from the log. */
  reported(event: PositionReported, origin: Origin): void
}

/** Checks each account that has readers every `everyMs`. */
export function statusWatch({
  feed,
  store,
  clock,
  logger,
  everyMs,
}: {
  feed: LiveFeed
  store: StatusStore
  clock: Clock
  logger: Logger
  everyMs: number
}): StatusWatch {
  const accounts = new Map<string, { changes: StatusChanges; end: () => void; readers: number }>()

  function start(accountId: string) {
    const ending = new AbortController()
    const changes = statusChanges({ accountId, feed, store, clock, signal: ending.signal })
    periodically({
      what: 'device statuses for the live stream',
      everyMs,
      task: () => changes.look(),
      signal: ending.signal,
      logger,
    }).catch((error: unknown) => logger.error({ err: error }, 'device statuses are not watched'))
    const started = { changes, end: () => ending.abort(), readers: 0 }
    accounts.set(accountId, started)
    return started
  }

  return {
    follow(accountId) {
      const account = accounts.get(accountId) ?? start(accountId)
      account.readers += 1
      return () => {
        account.readers -= 1
        if (account.readers > 0) return
        account.end()
        accounts.delete(accountId)
      }
    },

    reported(event, origin) {
      accounts.get(event.accountId)?.changes.reported(event, origin)
    },
  }
}
