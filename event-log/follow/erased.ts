import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { isWithdrawn } from '../../schemas/events/device-erased.ts'
import type { PositionEntry, ErasureEntry } from '../../schemas/events/log-entry.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { Offsets } from '../../schemas/devices/read-models.ts'
import { endOf, furthest, hasReached } from '../offsets.ts'
import type {
  FollowedBatch,
  FollowerLogger,
  KnownErasures,
  ReadErasure,
  ReadableLog,
} from './followed.ts'
import type { LiveFeed } from './live-feed.ts'

const LOOK_AGAIN_MS = 200
const ERASURES_REMEMBERED = 1_000

/**
 * For a reader of the past: the positions of a batch that no later erasure covers. Resolves with
 * undefined when an erasure is under way and has not appeared in the log within `pendingMs`.
 */
export type NotErased = (
  batch: FollowedBatch,
  positions: readonly PositionEntry[],
) => Promise<readonly PositionEntry[] | undefined>

export function notErased({
  store,
  feed,
  logger,
  accountId,
  pendingMs,
  signal,
}: {
  store: KnownErasures
  feed: Pick<LiveFeed, 'erasure'>
  logger: FollowerLogger
  accountId: string
  pendingMs: number
  signal: AbortSignal
}): NotErased {
  const read = new LRUCache<string, ReadErasure>({ max: ERASURES_REMEMBERED })

  return async function notErased(batch, positions) {
    for (const entry of batch.entries) {
      if (entry.kind !== 'erasure' || entry.event.accountId !== accountId) continue
      const { origin, event } = entry
      read.set(event.deviceId, { origin, erasedAt: event.erasedAt })
    }
    const deviceIds = [...new Set(positions.map(({ event }) => event.deviceId))]
    if (deviceIds.length === 0) return positions
    let deadline: number | undefined
    while (!signal.aborted) {
      try {
        const limits = await limitsOf(deviceIds, batch.partition)
        if (limits !== undefined) {
          return positions.filter((entry) => {
            const limit = limits.get(entry.event.deviceId)
            if (limit === undefined) return true
            return entry.origin.offset > limit.upTo && !isWithdrawn(entry, limit.erasedAt)
          })
        }
        deadline ??= performance.now() + pendingMs
        if (performance.now() > deadline) return undefined
      } catch (error) {
        logger.warn({ err: error }, 'reader of the past waiting for the store')
      }
      await pause(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined)
    }
    return undefined
  }

  /** The offset up to which each device is erased, and when; undefined while one is unknown. */
  async function limitsOf(deviceIds: readonly string[], partition: number) {
    const applied = await store.erasuresOf({ accountId, deviceIds })
    const limits = new Map<string, { readonly upTo: number; readonly erasedAt: number }>()
    for (const deviceId of deviceIds) {
      const stored = applied.get(deviceId)
      const known = stored?.upTo[partition] ?? -1
      const seen = [feed.erasure({ accountId, deviceId }), read.get(deviceId)].filter(
        (erasure) => erasure !== undefined,
      )
      const here = seen.filter(({ origin }) => origin.partition === partition)
      const upTo = Math.max(known, ...here.map(({ origin }) => origin.offset))
      if (stored?.pending === true && upTo === known) return undefined
      if (stored === undefined && seen.length === 0) continue
      const times = seen.map(({ erasedAt }) => erasedAt)
      limits.set(deviceId, { upTo, erasedAt: Math.max(stored?.erasedAt ?? 0, ...times) })
    }
    return limits
  }
}

/** The erasures after a place in the log, up to the end that the log has when the call begins. */
export async function* erasuresAfter(
  after: Offsets,
  { eventLog, signal }: { eventLog: ReadableLog; signal: AbortSignal },
): AsyncGenerator<ErasureEntry, void> {
  const extent = await eventLog.extent()
  const end = endOf(extent)
  // Entries that the log no longer holds are passed over.
  const begin = Object.fromEntries(extent.map(({ partition, first }) => [partition, first - 1]))
  let place: Offsets = furthest(begin, after)
  if (hasReached(place, end)) return
  const ending = new AbortController()
  try {
    const ended = AbortSignal.any([signal, ending.signal])
    for await (const item of eventLog.tail({ after: place, signal: ended })) {
      if (item.kind === 'gap') continue
      for (const entry of item.entries) if (entry.kind === 'erasure') yield entry
      place = furthest(place, { [item.partition]: item.lastOffset })
      if (hasReached(place, end)) return
      await endOfTurn()
    }
  } finally {
    ending.abort()
  }
  signal.throwIfAborted()
  throw new Error('the log ended before it was read to its end')
}
