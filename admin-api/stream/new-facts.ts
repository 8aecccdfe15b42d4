import type { LiveFeed } from '../../event-log/follow/live-feed.ts'
import type { JoinLive } from '../../event-log/follow/open-feeds.ts'
import type { Clock } from '../../runtime/clock.ts'
import { factView } from '../../schemas/facts/view.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import type { FactStore } from '../../store/facts.ts'
import { eventFrame } from './sse.ts'

/** Pushes an account's facts into the ring of the stream as they are decided. */
export type NewFacts = { look(): Promise<void> }

/** A new reader may have read the list before these were decided. */
const JUST_NOW_MS = 2_000

export function newFacts({
  accountId,
  join,
  feed,
  store,
  clock,
  signal,
}: {
  accountId: string
  /** Takes part in the live reader of the facts. */
  join: JoinLive
  feed: Pick<LiveFeed, 'push' | 'hasBegun'>
  store: Pick<FactStore, 'heldFacts'>
  clock: Clock
  signal: AbortSignal
}): NewFacts {
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
      // Only now: a look that has failed is repeated.
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
