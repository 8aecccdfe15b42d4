import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import type { Metrics } from '../../runtime/process/metrics.ts'
import type { Erasures } from '../../store/read-models.ts'
import type { Rejections } from '../../store/rejections.ts'
import { accountWatch, type AccountWatch } from './account-watch.ts'
import type { FactStore } from '../../store/facts.ts'
import type { ReadableLog } from '../../event-log/follow/followed.ts'
import type { JoinLive } from '../../event-log/follow/open-feeds.ts'
import { lingering } from '../../event-log/follow/lingering.ts'
import { startLiveFeed, type LiveFeed } from '../../event-log/follow/live-feed.ts'
import { newFacts } from './new-facts.ts'
import { newRejections } from './new-rejections.ts'
import type { ChosenEvent } from './sse.ts'
import { statusChanges, type StatusStore } from './status-changes.ts'

export type ChannelOptions = {
  /** Size of the ring that readers share: entries, and approximate bytes. */
  readonly ringEntries: number
  readonly ringBytes: number
  readonly retryMs: number
  /** How often entries that cannot be read are reported to readers and logged. */
  readonly unreadableEveryMs: number
  readonly statusEveryMs: number
  readonly rejectionsEveryMs: number
  readonly factsEveryMs: number
  /** How long the log is still read after the last reader has left. */
  readonly lingersMs: number
}

/** Shared by the readers of a process; reads the log only while there are any. */
export type Channel = {
  /** Adds a reader of this account's events; it calls `leave` once, when it goes. */
  join(reader: { readonly accountId: string; readonly events: ReadonlySet<ChosenEvent> }): {
    readonly feed: LiveFeed
    /** The ring number of the first entry that became known after joining. */
    readonly joined: number
    readonly leave: () => void
  }
  /** The variable that this process lacked to read an entry of the log, if there was one. */
  missingVariable(): string | undefined
}

type Open = {
  readonly feed: LiveFeed
  /** Watches for events that are not in the log. */
  readonly watches: Partial<Record<ChosenEvent, AccountWatch<unknown>>>
}

export function channel({
  eventLog,
  store,
  clock,
  logger,
  metrics,
  stopping,
  options: {
    ringEntries,
    ringBytes,
    retryMs,
    unreadableEveryMs,
    statusEveryMs,
    rejectionsEveryMs,
    factsEveryMs,
    lingersMs,
  },
  joinFacts,
}: {
  eventLog: ReadableLog
  store: StatusStore &
    Pick<Erasures, 'erasuresOf'> &
    Pick<Rejections, 'pageRejections'> &
    Pick<FactStore, 'heldFacts'>
  /** Takes part in the live reader of the facts. */
  joinFacts: JoinLive
  clock: Clock
  logger: Logger
  metrics: Metrics
  stopping: AbortSignal
  options: ChannelOptions
}): Channel {
  const shared = lingering({ open: start, lingersMs, stopping })
  let missingVariable: string | undefined

  function start(ending: AbortSignal): Open {
    const feed = startLiveFeed({
      eventLog,
      store,
      logger,
      signal: ending,
      ringEntries,
      ringBytes,
      retryMs,
      unreadableEveryMs,
      onUnreadable({ missing }) {
        metrics.streamUnreadable.inc()
        missingVariable = missing ?? missingVariable
      },
      onReport: (event, origin) => statuses.of(event.accountId)?.reported(event, origin),
    })
    const statuses = accountWatch({
      what: 'device statuses for the live stream',
      everyMs: statusEveryMs,
      logger,
      start: (accountId, signal) => statusChanges({ accountId, feed, store, clock, signal }),
    })
    const rejections = accountWatch({
      what: 'refused reports for the live stream',
      everyMs: rejectionsEveryMs,
      logger,
      start: (accountId, signal) => newRejections({ accountId, feed, store, clock, signal }),
    })
    const facts = accountWatch({
      what: 'facts for the live stream',
      everyMs: factsEveryMs,
      logger,
      start: (accountId, signal) =>
        newFacts({ accountId, join: joinFacts, feed, store, clock, signal }),
    })
    const watches = { 'device-status': statuses, fact: facts, rejection: rejections }
    return { feed, watches }
  }

  return {
    join({ accountId, events }) {
      const { opened, leave } = shared.join()
      const { feed, watches } = opened
      const joined = feed.hasBegun() ? feed.ring.end : 0
      const unfollow = [...events].map((event) => watches[event]?.follow(accountId))
      return {
        feed,
        joined,
        leave() {
          for (const end of unfollow) end?.()
          leave()
        },
      }
    },

    missingVariable: () => missingVariable,
  }
}
