import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { isWithdrawn } from '../../schemas/events/device-erased.ts'
import type { FollowedEntry, LogBatch, ReadableLog, TailItem } from '../event-log.ts'
import type { FollowerLogger, KnownErasures, LiveFeed } from './live-feed.ts'
import type { LogReader, ReadEntry } from './log-reader.ts'
import { lastEntry } from './mark.ts'
import type { ErasedDevice, GapReason } from './ring.ts'

export type PastItem =
  | {
      readonly kind: 'entries'
      /** The reader's place moves as they are taken, with the last one behind the batch that they are of. */
      readonly entries: Iterable<ReadEntry>
      /** How many entries the batch had. */
      readonly read: number
    }
  | { readonly kind: 'gap'; readonly reason: GapReason }

/** The entries that no later erasure covers; undefined if an erasure is under way and has not come in time. */
export type NotErased = (
  batch: LogBatch<FollowedEntry>,
  entries: readonly ReadEntry[],
) => Promise<readonly ReadEntry[] | undefined>

/**
 * Reads what the ring no longer holds with a separate tail, until the ring holds the rest. Returns true at the
 * ring; false if the reader has ended or erasures are unknown. Announces one gap at most.
 */
export async function* readPast(
  reader: LogReader,
  {
    log,
    notErased,
    retryMs,
    signal,
    logger,
  }: {
    log: Pick<ReadableLog, 'tail'>
    notErased: NotErased
    retryMs: number
    signal: AbortSignal
    logger: FollowerLogger
  },
): AsyncGenerator<PastItem, boolean> {
  const { feed, place } = reader
  let gapAnnounced = false
  let unknown = false
  reader.isInStep = false

  while (!signal.aborted && !reader.isAtRing() && !unknown) {
    try {
      yield* readOn()
    } catch (error) {
      logger.warn({ err: error }, 'reader of the past waiting for the log')
      await pause(retryMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  return reader.isAtRing() && !signal.aborted

  async function* readOn(): AsyncGenerator<PastItem, void> {
    const ending = new AbortController()
    const ended = AbortSignal.any([signal, ending.signal])
    const tail = log.tail({ after: { ...place.offsets }, signal: ended })
    const items = tail[Symbol.asyncIterator]()
    try {
      while (!signal.aborted && !reader.isAtRing() && !unknown) {
        const next = await nextUnlessArrived(items)
        if (next === undefined || next.done === true) return
        yield* take(next.value)
        await endOfTurn()
      }
    } finally {
      ending.abort()
      items.return?.().catch((error: unknown) => {
        logger.debug({ err: error }, 'ending a reader of the past failed')
      })
    }
  }

  /** Undefined if the ring holds the rest before anything comes. */
  function nextUnlessArrived(
    items: AsyncIterator<TailItem<FollowedEntry>>,
  ): Promise<IteratorResult<TailItem<FollowedEntry>> | undefined> {
    return new Promise((resolve, reject) => {
      const stopListening = feed.listen(() => {
        if (reader.isAtRing()) resolve(undefined)
      })
      items.next().then(resolve, reject).finally(stopListening)
    })
  }

  async function* take(item: TailItem<FollowedEntry>): AsyncGenerator<PastItem, void> {
    if (item.kind === 'gap') {
      yield* announceGap('expired')
      reader.moveTo({ partition: item.partition, offset: item.after })
      return
    }
    if (item.entries.some(({ kind }) => kind === 'unreadable')) yield* announceGap('unreadable')
    const entries = await notErased(item, item.entries.filter(isWanted))
    if (entries === undefined) unknown = true
    else yield { kind: 'entries', entries: taken(entries, item), read: item.entries.length }
  }

  function* announceGap(reason: GapReason): Generator<PastItem, void> {
    if (!gapAnnounced) yield { kind: 'gap', reason }
    gapAnnounced = true
  }

  function isWanted(entry: FollowedEntry): entry is ReadEntry {
    if (entry.kind === 'position') return entry.event.imported !== true && reader.wants(entry)
    return (entry.kind === 'fact' || entry.kind === 'erasure') && reader.wants(entry)
  }

  function* taken(
    entries: readonly ReadEntry[],
    batch: LogBatch<FollowedEntry>,
  ): Generator<ReadEntry, void> {
    for (const entry of entries) {
      reader.pass(entry)
      yield entry
    }
    reader.moveTo({ partition: batch.partition, offset: batch.lastOffset })
    const last = batch.entries.findLast((entry) => lastEntry(entry) !== undefined)
    place.last = (last && lastEntry(last)) ?? place.last
  }
}

const LOOK_AGAIN_MS = 200
const ERASURES_REMEMBERED = 1_000

/**
 * For a reader of past positions: leaves out those that a later erasure covers. Waits at most `pendingMs` for one
 * that is under way to appear in the log.
 */
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
  const read = new LRUCache<string, ErasedDevice>({ max: ERASURES_REMEMBERED })

  return async function notErased(batch, entries) {
    for (const entry of batch.entries) {
      if (entry.kind !== 'erasure' || entry.event.accountId !== accountId) continue
      read.set(entry.event.deviceId, { ...entry.event, origin: entry.origin })
    }
    const positions = entries.filter(({ kind }) => kind === 'position')
    const deviceIds = [...new Set(positions.map(({ event }) => event.deviceId))]
    if (deviceIds.length === 0) return entries
    let deadline: number | undefined
    while (!signal.aborted) {
      try {
        const limits = await limitsOf(deviceIds, batch.partition)
        if (limits !== undefined) {
          return entries.filter((entry) => {
            const limit = limits.get(entry.event.deviceId)
            if (limit === undefined || entry.kind !== 'position') return true
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
