import { setTimeout as pause } from 'node:timers/promises'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { DeviceErased } from '../../schemas/events/device-erased.ts'
import type { ErasureEntry, PositionEntry } from '../../schemas/events/log-entry.ts'
import type { Origin } from '../../schemas/devices/read-models.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { NotErased } from './erased.ts'
import type {
  FollowedBatch,
  FollowedEntry,
  FollowedItem,
  FollowerLogger,
  ReadableLog,
} from './followed.ts'
import type { LiveFeed } from './live-feed.ts'
import { lastEntry, type LastEntry, type ReaderPosition } from './mark.ts'
import type { GapReason } from './ring.ts'

/** The entries that a reader wants. */
export type Wanted = {
  position(event: PositionReported): boolean
  erasure(event: DeviceErased): boolean
}

export type PastItem<Shown> =
  | {
      readonly kind: 'entries'
      readonly entries: readonly Shown[]
      /** The place after the batch that they are of, and how many entries it had. */
      readonly upTo: Origin
      readonly last: LastEntry | undefined
      readonly read: number
    }
  | { readonly kind: 'gap'; readonly reason: GapReason }

/** The part of a batch that a reader gets; undefined if an erasure is under way and does not come. */
export type ShownOf<Shown> = (batch: FollowedBatch) => Promise<readonly Shown[] | undefined>

/** The positions that a reader wants and no erasure covers, and the erasures. */
export function shownEvents(
  wanted: Wanted,
  notErased: NotErased,
): ShownOf<PositionEntry | ErasureEntry> {
  return async (batch) => {
    const positions = batch.entries.filter(
      (entry) => entry.kind === 'position' && wanted.position(entry.event),
    ) as readonly PositionEntry[]
    const left = await notErased(batch, positions)
    if (left === undefined) return undefined
    const shown = new Set<FollowedEntry>(left)
    return batch.entries.filter((entry): entry is PositionEntry | ErasureEntry =>
      entry.kind === 'erasure' ? wanted.erasure(entry.event) : shown.has(entry),
    )
  }
}

/**
 * Reads what the ring no longer holds with a separate tail, until the ring holds the rest. Advances `place`
 * past each item when the next one is asked for. Returns true at the ring; false if the reader has ended or
 * erasures are unknown. Announces one gap at most.
 */
export async function* readPast<Shown>({
  eventLog,
  feed,
  place,
  shownOf,
  retryMs,
  signal,
  logger,
}: {
  eventLog: Pick<ReadableLog, 'tail'>
  feed: LiveFeed
  place: ReaderPosition
  shownOf: ShownOf<Shown>
  retryMs: number
  signal: AbortSignal
  logger: FollowerLogger
}): AsyncGenerator<PastItem<Shown>, boolean> {
  let gapAnnounced = false
  let unknown = false
  const arrived = () => feed.isCaughtUp() && feed.holds(place.offsets)

  while (!signal.aborted && !arrived() && !unknown) {
    try {
      yield* readOn()
    } catch (error) {
      logger.warn({ err: error }, 'reader of the past waiting for the log')
      await pause(retryMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  return arrived() && !signal.aborted

  async function* readOn(): AsyncGenerator<PastItem<Shown>, void> {
    const ending = new AbortController()
    const ended = AbortSignal.any([signal, ending.signal])
    const tail = eventLog.tail({ after: { ...place.offsets }, signal: ended })
    const items = tail[Symbol.asyncIterator]()
    try {
      while (!signal.aborted && !arrived() && !unknown) {
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
    items: AsyncIterator<FollowedItem>,
  ): Promise<IteratorResult<FollowedItem> | undefined> {
    return new Promise((resolve, reject) => {
      const stopListening = feed.listen(() => {
        if (arrived()) resolve(undefined)
      })
      items.next().then(resolve, reject).finally(stopListening)
    })
  }

  async function* take(item: FollowedItem): AsyncGenerator<PastItem<Shown>, void> {
    if (item.kind === 'batch') {
      yield* show(item)
      return
    }
    yield* announceGap('expired')
    const { partition, after } = item
    if (after < 0) delete place.offsets[partition]
    else place.offsets[partition] = after
  }

  function* announceGap(reason: GapReason): Generator<PastItem<Shown>, void> {
    if (!gapAnnounced) yield { kind: 'gap', reason }
    gapAnnounced = true
  }

  async function* show(batch: FollowedBatch): AsyncGenerator<PastItem<Shown>, void> {
    if (batch.entries.some(({ kind }) => kind === 'unreadable')) yield* announceGap('unreadable')
    const entries = await shownOf(batch)
    if (entries === undefined) {
      unknown = true
      return
    }
    const { partition, lastOffset: offset } = batch
    const last = batch.entries.map(lastEntry).findLast((last) => last !== undefined) ?? place.last
    yield {
      kind: 'entries',
      entries,
      upTo: { partition, offset },
      last,
      read: batch.entries.length,
    }
    place.offsets[partition] = offset
    place.last = last
  }
}
