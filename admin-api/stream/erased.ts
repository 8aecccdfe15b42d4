import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { LogBatch } from '../../event-log/event-log.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Origin } from '../../schemas/read-models.ts'
import type { PositionEntry } from '../../store/read-models.ts'
import type { Store } from '../../store/store.ts'
import type { LiveFeed } from './live-feed.ts'

const LOOK_AGAIN_MS = 200
const ERASURES_REMEMBERED = 1_000

/**
 * For a reader of the past: the positions of a batch that no later erasure covers. Resolves with
 * undefined when an erasure is under way and has not appeared in the log within `pendingMs`.
 */
export type NotErased = (
  batch: LogBatch,
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
  store: Pick<Store, 'erasuresOf'>
  feed: Pick<LiveFeed, 'erasure'>
  logger: Logger
  accountId: string
  pendingMs: number
  signal: AbortSignal
}): NotErased {
  const read = new LRUCache<string, Origin>({ max: ERASURES_REMEMBERED })

  return async function notErased(batch, positions) {
    for (const entry of batch.entries) {
      if (entry.kind !== 'erasure' || entry.event.accountId !== accountId) continue
      read.set(entry.event.deviceId, entry.origin)
    }
    const deviceIds = [...new Set(positions.map(({ event }) => event.deviceId))]
    if (deviceIds.length === 0) return positions
    let deadline: number | undefined
    while (!signal.aborted) {
      try {
        const limits = await limitsOf(deviceIds, batch.partition)
        if (limits !== undefined) {
          return positions.filter(
            ({ event, origin }) => origin.offset > (limits.get(event.deviceId) ?? -1),
          )
        }
        deadline ??= performance.now() + pendingMs
        if (performance.now() > deadline) return undefined
      } catch (error) {
        logger.warn({ err: error }, 'a reader of the past waits for the store')
      }
      await pause(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined)
    }
    return undefined
  }

  /** The offset up to which each device is erased; undefined while one is unknown. */
  async function limitsOf(deviceIds: readonly string[], partition: number) {
    const applied = await store.erasuresOf({ accountId, deviceIds })
    const limits = new Map<string, number>()
    for (const deviceId of deviceIds) {
      const { pending = false, upTo = {} } = applied.get(deviceId) ?? {}
      const known = upTo[partition] ?? -1
      const seen = [feed.erasure({ accountId, deviceId }), read.get(deviceId)]
        .filter((origin) => origin?.partition === partition)
        .map((origin) => origin?.offset ?? -1)
      const limit = Math.max(known, ...seen)
      if (pending && limit === known) return undefined
      if (limit >= 0) limits.set(deviceId, limit)
    }
    return limits
  }
}
