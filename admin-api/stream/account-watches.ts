import type { JoinLive } from '../../event-log/reading/open-feeds.ts'
import type { LiveFeed } from '../../event-log/reading/live-feed.ts'
import type { Clock } from '../../runtime/clock.ts'
import { createLingering, type Lingering } from '../../runtime/process/lingering.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import { repeatPeriodically } from '../../runtime/process/repeat.ts'
import type { ReportRejected } from '../../schemas/events/report-rejected.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import { handlingView } from '../../schemas/facts/handling.ts'
import { factView } from '../../schemas/facts/view.ts'
import type { FactStore } from '../../store/facts.ts'
import type { FactHandling, Handlings } from '../../store/handlings.ts'
import type { Rejections } from '../../store/rejections.ts'
import { rejectionView } from '../rejections.ts'
import { eventFrame, type ChosenEvent } from './frames.ts'
import type { StreamOptions } from './options.ts'
import { statusChanges, type StatusChanges, type StatusStore } from './status-changes.ts'

export type WatchStore = StatusStore &
  Pick<Rejections, 'pageRejections'> &
  Pick<FactStore, 'heldFacts'> &
  Pick<Handlings, 'changedHandlings'>

/** Looks for new events in one account, and pushes them into its live reader's ring. */
type Look = { look(): Promise<void> }
type LookInput = {
  readonly accountId: string
  readonly feed: LiveFeed
  readonly store: WatchStore
  readonly clock: Clock
  /** Aborted when the account has no reader left. */
  readonly signal: AbortSignal
}

/** Watches, in each account with readers, for events that are not in the log. */
export function accountWatches({
  joinEvents,
  joinFacts,
  options: { statusEveryMs, rejectionsEveryMs, factsEveryMs },
  logger,
  stopping,
  store,
  clock,
}: {
  /** Join the live readers of the logs. */
  joinEvents: JoinLive
  joinFacts: JoinLive
  options: Pick<StreamOptions, 'statusEveryMs' | 'rejectionsEveryMs' | 'factsEveryMs'>
  logger: Logger
  stopping: AbortSignal
  store: WatchStore
  clock: Clock
}) {
  const statuses = watch('device statuses', statusEveryMs, statusChanges)
  const watches: Partial<Record<ChosenEvent, Lingering<Look>>> = {
    'device-status': statuses,
    rejection: watch('rejected reports', rejectionsEveryMs, newRejections),
    fact: watch('facts', factsEveryMs, (input) => newFacts(input, joinFacts)),
    'fact-handling': watch('handling of facts', factsEveryMs, newHandlings),
  }

  function watch<Own extends Look>(
    name: string,
    everyMs: number,
    start: (input: LookInput) => Own,
  ): Lingering<Own> {
    const what = `${name} for the live stream`
    function open(signal: AbortSignal, accountId: string): Own {
      const { feed, leave } = joinEvents()
      signal.addEventListener('abort', leave, { once: true })
      const own = start({ accountId, feed, store, clock, signal })
      repeatPeriodically({ what, everyMs, task: () => own.look(), signal, logger }).catch(
        (error: unknown) =>
          logger.error(
            { err: error, what },
            'could not start a periodic look-up for the live stream',
          ),
      )
      return own
    }
    return createLingering({ open, lingersMs: 0, stopping })
  }

  return {
    /** The returned function ends the watch. */
    follow(accountId: string, events: ReadonlySet<ChosenEvent>): () => void {
      const followed = [...events].map((event) => watches[event]?.join(accountId))
      return () => followed.forEach((one) => one?.leave())
    },

    /** The watch of this account's statuses, if it has readers for them. */
    statusesOf: (accountId: string): StatusChanges | undefined => statuses.at(accountId),
  }
}

/**
 * A new reader may have read the list before these facts were decided, or these rejections stored.
 */
const JUST_NOW_MS = 2_000

/** Pushes an account's facts into the ring of the stream as they are decided. */
function newFacts({ accountId, feed, store, clock, signal }: LookInput, join: JoinLive): Look {
  const begunAt = clock.now()
  const { feed: facts, leave } = join()
  signal.addEventListener('abort', leave, { once: true })
  /** The next entry of the facts' ring. */
  let cursor: number | undefined

  return {
    async look() {
      if (!feed.hasBegun() || !facts.isCaughtUp()) return
      const since = cursor === undefined ? begunAt - JUST_NOW_MS : -Infinity
      const fresh: DeviceFact[] = []
      const { end } = facts.ring
      for (let number = Math.max(cursor ?? 0, facts.ring.first); number < end; number += 1) {
        const entry = facts.ring.at(number)
        if (entry?.kind !== 'fact' || entry.event.accountId !== accountId) continue
        if (entry.event.decidedAt >= since) fresh.push(entry.event)
      }
      if (fresh.length > 0) {
        const held = await store.heldFacts({ accountId, facts: fresh })
        if (signal.aborted) return
        for (const fact of fresh) if (held.has(fact.id)) push(fact)
      }
      // Set only now, so that a failed look-up is repeated.
      cursor = end
    },
  }

  function push(fact: DeviceFact): void {
    feed.push({
      kind: 'aside',
      name: 'fact',
      isErasable: true,
      accountId,
      deviceId: fact.deviceId,
      text: eventFrame('fact', JSON.stringify(factView(fact))),
    })
  }
}

/** Pushes into the ring how operators handle an account's facts. */
function newHandlings({ accountId, feed, store, clock, signal }: LookInput): Look {
  let known: ReadonlySet<string> = new Set()
  let since = clock.now() - JUST_NOW_MS

  return {
    async look() {
      if (!feed.hasBegun()) return
      const recent = await store.changedHandlings({ accountId, since })
      const fresh = recent.filter((one) => !known.has(JSON.stringify(one)))
      if (fresh.length > 0) {
        const held = await store.heldFacts({ accountId, facts: fresh })
        if (signal.aborted) return
        for (const one of fresh) if (held.has(one.id)) push(one)
      }
      known = new Set(recent.map((one) => JSON.stringify(one)))
      // The clocks of several processes differ.
      since = Math.max(since, (recent.at(-1)?.at ?? 0) - OUT_OF_ORDER_MS)
    },
  }

  function push(changed: FactHandling): void {
    const { id, deviceId } = changed
    const data = { id, deviceId, handling: handlingView(changed) }
    feed.push({
      kind: 'aside',
      name: 'fact-handling',
      isErasable: true,
      accountId,
      deviceId,
      text: eventFrame('fact-handling', JSON.stringify(data)),
    })
  }
}

const PAGE = 50
/** In a flood, older rejections appear only in the list. */
const MOST_AT_ONCE = 1_000
/** Several ingest APIs may store rejections out of order. */
const OUT_OF_ORDER_MS = 30_000

/** Pushes an account's rejections into the ring as they are stored. */
function newRejections({ accountId, feed, store, clock, signal }: LookInput): Look {
  const begunAt = clock.now()
  /** Rejections within `OUT_OF_ORDER_MS` of the newest, with their times. */
  let seen: ReadonlyMap<string, number> | undefined

  return {
    async look() {
      if (!feed.hasBegun()) return
      const newest = await readNewest(Math.max(...(seen?.values() ?? []), 0))
      if (signal.aborted) return
      const known = seen
      const fresh = newest.filter(({ rejectionId, receivedAt }) =>
        known === undefined ? receivedAt >= begunAt - JUST_NOW_MS : !known.has(rejectionId),
      )
      for (const rejection of fresh.reverse()) push(rejection)
      seen = new Map(newest.map(({ rejectionId, receivedAt }) => [rejectionId, receivedAt]))
    },
  }

  /**
   * The newest rejections first, including ones older than `last` that may have been stored since.
   */
  async function readNewest(last: number): Promise<ReportRejected[]> {
    const rejections: ReportRejected[] = []
    while (rejections.length < MOST_AT_ONCE && !signal.aborted) {
      const after = rejections.at(-1)?.rejectionId
      const page = await store.pageRejections({
        accountId,
        limit: PAGE,
        ...(after !== undefined && { after }),
      })
      const since = Math.max(last, page[0]?.receivedAt ?? 0, rejections[0]?.receivedAt ?? 0)
      const near = page.filter(({ receivedAt }) => receivedAt >= since - OUT_OF_ORDER_MS)
      rejections.push(...near)
      if (near.length < PAGE) break
    }
    return rejections
  }

  function push(rejection: ReportRejected): void {
    const { deviceId } = rejection
    feed.push({
      kind: 'aside',
      name: 'rejection',
      isErasable: false,
      accountId,
      ...(deviceId !== undefined && { deviceId }),
      text: eventFrame('rejection', JSON.stringify(rejectionView(rejection))),
    })
  }
}
