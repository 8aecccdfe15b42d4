import { DependencyError } from '../../runtime/errors.ts'
import type { Extent, ReadableLog } from '../event-log.ts'
import type { Feed, FeedItem, FeedPage, FeedQuery } from '../feeds.ts'
import { endOf, hasReached } from '../offsets.ts'
import type { FollowerLogger, LiveFeed } from './live-feed.ts'
import { LogReader, readPast, type NotErased, type ReadEntry, type Wants } from './log-reader.ts'
import { feedMarks, findPlace, type MarkedLog, type ReaderPosition } from './mark.ts'
import { shareExtent, sharePast, type SharedPastOptions } from './shared-past.ts'

export type FeedOptions = SharedPastOptions & {
  /** Takes a slot for reading the past, if one is free; the returned function frees it. */
  readonly takeTurn: (accountId: string) => (() => void) | undefined
  readonly retryMs: number
  /** Maximum number of past entries that a call reads. */
  readonly mostEntries: number
  /** How long a call may read, not counting the wait at the end. */
  readonly readsForMs: number
  /**
   * Maximum age of the extent used to decide whether a page ends the log; marks are compared with
   * the current extent.
   */
  readonly extentMs: number
}

/** The differences between the feeds of positions and facts. */
export type FeedSource = {
  readonly marked: MarkedLog
  readonly log: ReadableLog
  /** Joins the live reader of the log that this whole process shares. */
  join(): { readonly feed: LiveFeed; readonly leave: () => void }
  /** Used by readers of the past: see `readPast`. */
  notErased(reader: {
    readonly accountId: string
    readonly feed: LiveFeed
    readonly signal: AbortSignal
  }): NotErased
  /** Omits events of devices that have been erased since. */
  withoutErased<Found extends { readonly entry: ReadEntry }>(
    accountId: string,
    found: readonly Found[],
  ): Promise<readonly Found[]>
}

/**
 * An entry of a page, the position after it, and the number of the next entry if it came from the
 * ring.
 */
type Found = {
  readonly entry: ReadEntry
  readonly place: Readonly<ReaderPosition>
  readonly next: number | undefined
}

/** How long a call waits for the live reader to reach the end of the log. */
const READ_ON_MS = 1_000

export function logFeed<Event>(
  source: FeedSource,
  {
    logger,
    takeTurn,
    retryMs,
    readsForMs,
    mostEntries,
    extentMs,
    ...options
  }: FeedOptions & { readonly logger: FollowerLogger; readonly stopping: AbortSignal },
): Feed<Event> {
  const { marked, log } = source
  const extentOf = shareExtent(log)
  const past = sharePast(log, options)
  const marks = feedMarks(marked)

  return {
    async markAt(place) {
      if (typeof place === 'number') {
        return marks.write({ offsets: { ...(await log.placeBefore(place)) } })
      }
      const extent = await extentOf()
      const offsets = extent.map(({ partition, first, next }) => {
        return [partition, (place === 'start' ? first : next) - 1] as const
      })
      return marks.write({
        offsets: Object.fromEntries(offsets.filter(([, offset]) => offset >= 0)),
      })
    },

    isMark: (text) => marks.read(text) !== undefined,

    async read(query) {
      const mark = marks.read(query.after)
      if (mark === undefined) throw new Error('the text is not a mark of this feed')
      const { feed, leave } = source.join()
      try {
        return await read(mark, feed, query)
      } finally {
        leave()
      }
    },
  }

  async function read(
    mark: ReaderPosition,
    feed: LiveFeed,
    query: FeedQuery<Event>,
  ): Promise<FeedPage<Event>> {
    const { accountId, waitMs = 0, signal } = query
    const started = performance.now()
    const extent = await extentNow()
    const logEnd = endOf(extent)
    const { place, ...begin } = await beginAt(mark, feed, { accountId, extent, signal })
    const reader = new LogReader(feed, place, createFilter(query))
    if (!begin.gap) reader.next = marks.numberAfter(query.after, feed.ring)
    for (let gap = begin.gap; ;) {
      const page = await readOn(reader, query)
      gap ||= page.gap
      const shown = await source.withoutErased(accountId, page.found)
      const end = page.end && hasReached(feed.upTo, logEnd)
      const forMs = waitMs - (performance.now() - started)
      if (shown.length > 0 || gap || !end || forMs <= 0 || signal.aborted) {
        const items = shown.map((one) => itemOf(one, feed))
        return { items, mark: marks.write(place, { ring: feed.ring, next: reader.next }), end, gap }
      }
      await feed.until(() => !reader.isAtEnd(), { accountId, forMs, signal })
    }
  }

  /**
   * Aborts work that takes too long. The signal is created on first use: reading only the ring
   * needs none.
   */
  function limitSignal(signal: AbortSignal): () => AbortSignal {
    let made: AbortSignal | undefined
    return () => (made ??= AbortSignal.any([signal, AbortSignal.timeout(readsForMs)]))
  }

  /**
   * The extent of the log; empty while the log cannot report it: the live reader still has entries
   * to read.
   */
  async function extentNow(): Promise<readonly Extent[]> {
    try {
      return await extentOf(extentMs)
    } catch (error) {
      logger.debug({ err: error }, 'could not read the log extent for a feed')
      return []
    }
  }

  /** The position according to this log; a different one if the log no longer has it. */
  async function beginAt(
    mark: ReaderPosition,
    feed: LiveFeed,
    {
      accountId,
      extent,
      signal,
    }: { accountId: string; extent: readonly Extent[]; signal: AbortSignal },
  ): Promise<{ readonly place: ReaderPosition; readonly gap: boolean }> {
    const ending = limitSignal(signal)
    if (!feed.holds(mark.offsets)) past.forgetLost(extent)
    if (!feed.isCaughtUp()) await feed.until(feed.isCaughtUp, { signal: ending() })
    if (!feed.isCaughtUp()) throw unavailableError('the log has not been read to its end yet')
    const end = endOf(extent)
    const isAtEnd = () => hasReached(feed.upTo, end)
    if (!isAtEnd()) await feed.until(isAtEnd, { forMs: READ_ON_MS, signal: ending() })
    const known = { extent: () => extentOf(), ...past.of({ accountId, atFirst: 1 }) }
    const looking = { feed, log: known, retryMs, ending, logger }
    const { place, lost } = await findPlace(mark, looking, marks.isKnown)
    if (lost !== undefined) return { place: { offsets: { ...feed.ring.before } }, gap: true }
    // The live reader may still hold entries that retention has removed.
    const removed = extent.filter(
      ({ partition, first, whole }) => !whole && (place.offsets[partition] ?? -1) < first - 1,
    )
    for (const { partition, first } of removed) place.offsets[partition] = first - 1
    return { place, gap: removed.length > 0 }
  }

  async function readOn(
    reader: LogReader,
    { accountId, limit, signal: given }: FeedQuery<Event>,
  ): Promise<{ readonly found: readonly Found[]; readonly end: boolean; readonly gap: boolean }> {
    const { feed, place } = reader
    const found: Found[] = []
    let gap = false
    /** Whether it was the last entry that fits. */
    const add = (entry: ReadEntry, next?: number): boolean => {
      found.push({ entry, place: { offsets: { ...place.offsets }, last: place.last }, next })
      return found.length >= limit
    }

    while (!feed.holds(place.offsets)) {
      if (await readFromPast()) return { found, gap, end: false }
    }
    reader.enterRing(hasReached(place.offsets, feed.upTo) ? feed.ring.end : reader.next)
    for (const entry of reader.fromRing()) {
      if (entry.kind === 'gap') gap ||= entry.origin !== undefined
      else if ('event' in entry && add(entry, reader.next)) return { found, gap, end: false }
    }
    return { found, gap, end: reader.isInStep && reader.isAtEnd() }

    /** Whether the page ends before the ring's oldest entry. */
    async function readFromPast(): Promise<boolean> {
      const endTurn = takeTurn(accountId)
      if (endTurn === undefined) throw unavailableError('too many readers read the past')
      const signal = limitSignal(given)()
      const items = readPast(reader, {
        log: past.of({ accountId, atFirst: limit }),
        notErased: source.notErased({ accountId, feed, signal }),
        retryMs,
        signal,
        logger,
      })
      let read = 0
      try {
        for await (const item of items) {
          if (item.kind === 'gap') gap = true
          else {
            for (const entry of item.entries) if (add(entry)) return true
            read += item.read
            if (read >= mostEntries) return true
          }
        }
      } finally {
        endTurn()
      }
      if (reader.isAtRing() && !signal.aborted) return false
      if (read > 0) return true
      throw unavailableError('the past of the log cannot be read now')
    }
  }

  function itemOf({ entry, place, next }: Found, feed: LiveFeed): FeedItem<Event> {
    const item =
      entry.kind === 'erasure'
        ? { kind: 'erasure' as const, event: entry.event }
        : { kind: 'event' as const, event: entry.event as Event }
    return {
      ...item,
      // Computed only on request, because it names every partition.
      get mark() {
        return marks.write(place, next === undefined ? undefined : { ring: feed.ring, next })
      },
    }
  }
}

function createFilter<Event>({ accountId, wants, wantsErasure }: FeedQuery<Event>): Wants {
  return (entry) =>
    entry.event.accountId === accountId &&
    (entry.kind === 'erasure' ? wantsErasure?.(entry.event) === true : wants(entry.event as Event))
}

function unavailableError(message: string): DependencyError {
  return new DependencyError(message, { retriable: true })
}
