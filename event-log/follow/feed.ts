import { DependencyError } from '../../runtime/errors.ts'
import type { Extent } from '../event-log.ts'
import type { Feed, FeedItem, FeedPage, FeedQuery } from '../feeds.ts'
import { endOf, hasReached } from '../offsets.ts'
import { accountWaits } from './account-waits.ts'
import { feedMarks } from './feed-marks.ts'
import type { FeedEntry, FeedSource, PlacedEntry } from './feed-source.ts'
import type { FollowerLogger } from './followed.ts'
import type { LiveFeed } from './live-feed.ts'
import { lastEntry, type ReaderPosition } from './mark.ts'
import { readPast } from './past.ts'
import { isStillThere, placeInLog, sharedExtent } from './place-in-log.ts'
import type { Ring } from './ring.ts'
import { sharedPast, type SharedPastOptions } from './shared-past.ts'
import { untilAborted, untilRead } from './feed-waits.ts'

export type FeedOptions = SharedPastOptions & {
  /** Takes a turn at reading the past, if one is free; the returned function ends it. */
  readonly takeTurn: (accountId: string) => (() => void) | undefined
  readonly retryMs: number
  /** The most entries of the past that a call reads. */
  readonly mostEntries: number
  /** How long a call may read, besides waiting at the end. */
  readonly readsForMs: number
  /** How old the extent may be that says whether a page ends the log; marks are compared with the one of now. */
  readonly extentMs: number
}

/** How long a call waits for the live reader to come to the end of the log. */
const READ_ON_MS = 1_000

export function logFeed<Event>(
  source: FeedSource<Event>,
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
  const { marked } = source
  const extentOf = sharedExtent(source.log)
  const log: typeof source.log = {
    tail: (from) => source.log.tail(from),
    placeBefore: (time) => source.log.placeBefore(time),
    extent: () => extentOf(),
  }
  const past = sharedPast(log, options)
  const marks = feedMarks(marked)
  const waits = new WeakMap<LiveFeed, ReturnType<typeof accountWaits>>()

  return {
    async markAt(place) {
      if (typeof place === 'number') {
        return marks.write({ offsets: { ...(await log.placeBefore(place)) } })
      }
      const extent = await log.extent()
      const offsets = extent.map(({ partition, first, next }) => {
        return [partition, (place === 'start' ? first : next) - 1] as const
      })
      return marks.write({
        offsets: Object.fromEntries(offsets.filter(([, offset]) => offset >= 0)),
      })
    },

    isMark: (text) => marks.read(text) !== undefined,

    async read(query) {
      const place = marks.read(query.after)
      if (place === undefined) throw new Error('the text is no mark of this feed')
      const { feed, leave } = source.join()
      try {
        return await read(place, feed, query)
      } finally {
        leave()
      }
    },
  }

  async function read(
    after: ReaderPosition,
    feed: LiveFeed,
    query: FeedQuery<Event>,
  ): Promise<FeedPage<Event>> {
    const { accountId, waitMs = 0, signal } = query
    const started = performance.now()
    const extent = await extentNow()
    if (!feed.holds(after.offsets)) past.forgetLost(extent)
    const found = await checked(after, extent, { accountId, feed, ending: limited(signal) })
    /** The ring's entries before this one are behind the place. */
    let from = found.gap ? 0 : marks.numberAfter(query.after, feed.ring)
    for (let { place, gap } = found; ;) {
      const read = await readOn(place, feed, query, from, limited(signal))
      gap ||= read.gap
      const shown = await source.withoutErased(accountId, read.entries)
      const leftMs = waitMs - (performance.now() - started)
      const end = read.end && hasReached(feed.upTo, endOf(extent))
      if (shown.length > 0 || gap || !end || leftMs <= 0 || signal.aborted) {
        const items = shown.map((one) => itemOf(one, feed.ring))
        return { items, mark: marks.write(place, { ring: feed.ring, next: read.from }), end, gap }
      }
      from = read.from
      await waitsOf(feed).until({ accountId, from }, { forMs: leftMs, signal })
    }
  }

  function waitsOf(feed: LiveFeed): ReturnType<typeof accountWaits> {
    const own = waits.get(feed) ?? accountWaits(feed)
    waits.set(feed, own)
    return own
  }

  /** Ends work that takes too long. The signal is made when it is first needed: what reads the ring alone needs none. */
  function limited(signal: AbortSignal): () => AbortSignal {
    let made: AbortSignal | undefined
    return () => (made ??= AbortSignal.any([signal, AbortSignal.timeout(readsForMs)]))
  }

  /** The extent of the log; empty while the log cannot report it: the live reader still has entries to read. */
  async function extentNow(): Promise<readonly Extent[]> {
    try {
      return await extentOf(extentMs)
    } catch (error) {
      logger.debug({ err: error }, 'reader of a feed without the extent of the log')
      return []
    }
  }

  /** The place as the log knows it; another one if the log has lost it. */
  async function checked(
    after: ReaderPosition,
    extent: readonly Extent[],
    {
      accountId,
      feed,
      ending,
    }: {
      readonly accountId: string
      readonly feed: LiveFeed
      readonly ending: () => AbortSignal
    },
  ): Promise<{ readonly place: ReaderPosition; readonly gap: boolean }> {
    const eventLog = { ...log, ...past.of({ accountId, atFirst: 1 }) }
    const following = {
      feed,
      eventLog,
      retryMs,
      logger,
      get signal() {
        return ending()
      },
    }
    if (!feed.isCaughtUp()) await untilAborted(feed.caughtUp, ending())
    if (!feed.isCaughtUp()) throw unavailable('the log has not been read to its end yet')
    const end = endOf(extent)
    if (!hasReached(feed.upTo, end)) {
      await untilRead(end, feed, { forMs: READ_ON_MS, signal: ending() })
    }
    // Where the reader's log has left this one is unknown: it gets all that is at hand.
    const anew = () => ({ place: { offsets: { ...feed.ring.before } }, gap: true })
    const { place: offsets, beyond } = await placeInLog(after.offsets, following)
    if (beyond) return anew()
    const { last } = after
    if (last !== undefined && !marks.isKnown(last)) {
      if (!(await isStillThere(last, following))) return anew()
    }
    // The live reader may still hold what retention has removed.
    const lost = extent.filter(
      ({ partition, first, whole }) => !whole && (offsets[partition] ?? -1) < first - 1,
    )
    for (const { partition, first } of lost) offsets[partition] = first - 1
    return { place: { offsets, last }, gap: lost.length > 0 }
  }

  /** Reads on, and moves `place` behind what it has read. */
  async function readOn(
    place: ReaderPosition,
    feed: LiveFeed,
    { accountId, limit, wants, wantsErasure }: FeedQuery<Event>,
    from: number,
    ending: () => AbortSignal,
  ): Promise<{
    entries: readonly PlacedEntry<Event>[]
    end: boolean
    gap: boolean
    from: number
  }> {
    const entries: PlacedEntry<Event>[] = []
    let gap = false
    const isWanted = (entry: FeedEntry<Event>) =>
      entry.event.accountId === accountId &&
      (entry.kind === 'erasure' ? wantsErasure?.(entry.event) === true : wants(entry.event))
    /** Whether it was the last one that fits. */
    const add = (entry: FeedEntry<Event>, next?: number): boolean => {
      place.offsets[entry.origin.partition] = entry.origin.offset
      place.last = lastEntry(entry)
      entries.push({ entry, place: { offsets: { ...place.offsets }, last: place.last }, next })
      return entries.length >= limit
    }

    while (!feed.holds(place.offsets)) {
      if (await readFromPast()) return { entries, gap, end: false, from }
    }
    const next = feed.ring.end
    const begin = hasReached(place.offsets, feed.upTo) ? next : Math.max(from, feed.ring.first)
    for (let number = begin; number < next; number += 1) {
      const entry = feed.ring.at(number)
      if (entry === undefined || !('origin' in entry) || entry.origin === undefined) continue
      const { partition, offset } = entry.origin
      const isNew = offset > (place.offsets[partition] ?? -1)
      if (entry.kind === 'gap' && (isNew || entry.isBack === true)) {
        if (offset < 0) delete place.offsets[partition]
        else place.offsets[partition] = offset
        if (entry.isBack === true) place.last = undefined
        gap = true
      }
      if (!isNew) continue
      const own = source.eventIn(entry)
      if (own === undefined || !isWanted(own)) place.offsets[partition] = offset
      else if (add(own, number + 1)) return { entries, gap, end: false, from: number + 1 }
    }
    const end = hasReached(feed.upTo, place.offsets)
    if (end) {
      Object.assign(place.offsets, feed.upTo)
      place.last = feed.last ?? place.last
    }
    return { entries, gap, end, from: end ? next : from }

    /** Whether the page ends before what the ring holds. */
    async function readFromPast(): Promise<boolean> {
      const endTurn = takeTurn(accountId)
      if (endTurn === undefined) throw unavailable('too many readers read the past')
      const signal = ending()
      const left = new AbortController()
      const items = readPast({
        eventLog: past.of({ accountId, atFirst: limit }),
        feed,
        place,
        shownOf: source.shownOf({ accountId, feed, signal }, isWanted),
        retryMs,
        signal: AbortSignal.any([signal, left.signal]),
        logger,
      })
      let read = 0
      try {
        for (;;) {
          const next = await items.next()
          if (next.done === true) {
            if (next.value) return false
            if (read > 0) return true
            throw unavailable('the past of the log cannot be read now')
          }
          const item = next.value
          if (item.kind === 'gap') gap = true
          else {
            for (const entry of item.entries) if (add(entry)) return true
            read += item.read
            place.offsets[item.upTo.partition] = item.upTo.offset
            place.last = item.last
            if (read >= mostEntries) return true
          }
        }
      } finally {
        endTurn()
        left.abort()
        items.return(false).catch((error: unknown) => {
          logger.debug({ err: error }, 'ending a reader of the past failed')
        })
      }
    }
  }

  function itemOf({ entry, place, next }: PlacedEntry<Event>, ring: Ring): FeedItem<Event> {
    const item =
      entry.kind === 'erasure'
        ? { kind: 'erasure' as const, event: entry.event }
        : { kind: 'event' as const, event: entry.event as Event }
    return {
      ...item,
      // Written only for those that ask: it names every partition.
      get mark() {
        return marks.write(place, next === undefined ? undefined : { ring, next })
      },
    }
  }
}

function unavailable(message: string): DependencyError {
  return new DependencyError(message, { retriable: true })
}
