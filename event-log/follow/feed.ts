import { LRUCache } from 'lru-cache'
import { DependencyError } from '../../runtime/errors.ts'
import type { ErasureEntry, FactEntry, PositionEntry } from '../../schemas/log-entry.ts'
import type { Offsets } from '../../schemas/read-models.ts'
import type { Extent } from '../event-log.ts'
import type { Feed, FeedItem, FeedPage, FeedQuery } from '../feeds.ts'
import { endOf, hasReached } from '../offsets.ts'
import { accountWaits } from './account-waits.ts'
import type { FollowerLogger, ReadableLog } from './followed.ts'
import { keptTails, type KeptTailsOptions } from './kept-tails.ts'
import type { LiveFeed } from './live-feed.ts'
import {
  lastEntry,
  readMark,
  writeMark,
  type LastEntry,
  type MarkedLog,
  type ReaderPosition,
} from './mark.ts'
import { readPast, type ShownOf } from './past.ts'
import { isStillThere, placeInLog } from './place-in-log.ts'
import type { Ring, RingEntry } from './ring.ts'
import { untilAborted, untilRead } from './feed-waits.ts'

/** An entry that may be an item. */
export type FeedEntry<Event> = ErasureEntry | (FeedEventEntry & { readonly event: Event })
type FeedEventEntry = PositionEntry | FactEntry

/** The differences between the feeds of positions and facts. */
export type FeedSource<Event> = {
  readonly marked: MarkedLog
  readonly log: ReadableLog & { placeBefore(time: number): Promise<Offsets> }
  /** Takes part in the live reader of the log that all of this process share. */
  join(): { readonly feed: LiveFeed; readonly leave: () => void }
  /** The entry if it is an event of this feed. */
  eventIn(entry: RingEntry): FeedEntry<Event> | undefined
  /** The part of a batch that a reader of the past gets: see `readPast`. */
  shownOf(
    reader: { readonly accountId: string; readonly feed: LiveFeed; readonly signal: AbortSignal },
    wants: (entry: FeedEntry<Event>) => boolean,
  ): ShownOf<FeedEntry<Event>>
  /** Leaves out the events of devices that have been erased meanwhile. */
  withoutErased(
    accountId: string,
    entries: readonly PlacedEntry<Event>[],
  ): Promise<readonly PlacedEntry<Event>[]>
}

/** An entry, and the place after it. */
export type PlacedEntry<Event> = {
  readonly entry: FeedEntry<Event>
  readonly place: Readonly<ReaderPosition>
  /** The number of the next entry, if it came from the ring. */
  readonly next?: number | undefined
}

export type FeedOptions = KeptTailsOptions & {
  /** Takes a turn at reading the past, if one is free; the returned function ends it. */
  readonly takeTurn: (accountId: string) => (() => void) | undefined
  readonly retryMs: number
  /** The most entries of the past that a call reads. */
  readonly mostEntries: number
  /** How long a call may read, besides waiting at the end. */
  readonly readsForMs: number
}

const MARKS_REMEMBERED = 10_000
/** Marks of many partitions are long. */
const MARKS_REMEMBERED_LENGTH = 4_000_000
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
    ...options
  }: FeedOptions & { readonly logger: FollowerLogger; readonly stopping: AbortSignal },
): Feed<Event> {
  const { marked, log } = source
  const past = keptTails(log, options)
  /** The entries that marks given out here end with: they need not be looked for in the log. */
  const known = new LRUCache<string, number>({ max: MARKS_REMEMBERED })
  /** The number in the ring of the first entry that is not behind a mark given out here. */
  const numbers = new LRUCache<string, { readonly ring: Ring; readonly next: number }>({
    max: MARKS_REMEMBERED,
    maxSize: MARKS_REMEMBERED_LENGTH,
    sizeCalculation: (_number, text) => text.length,
  })
  const waits = new WeakMap<LiveFeed, ReturnType<typeof accountWaits>>()
  const mark = (place: Readonly<ReaderPosition>, ring?: Ring, next?: number) => {
    if (place.last !== undefined) known.set(nameOf(place.last), place.last.time)
    const text = writeMark(place, marked)
    if (ring !== undefined && next !== undefined) numbers.set(text, { ring, next })
    return text
  }

  return {
    async markAt(place) {
      if (typeof place === 'number') return mark({ offsets: { ...(await log.placeBefore(place)) } })
      const extent = await log.extent()
      const offsets = extent.map(({ partition, first, next }) => {
        return [partition, (place === 'start' ? first : next) - 1] as const
      })
      return mark({ offsets: Object.fromEntries(offsets.filter(([, offset]) => offset >= 0)) })
    },

    isMark: (text) => readMark(text, marked) !== undefined,

    async read(query) {
      const place = readMark(query.after, marked)
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
    const found = await within(signal, (ending) => checked(after, extent, feed, ending))
    /** The ring's entries before this one are behind the place. */
    let from = found.gap ? 0 : numberAfter(query.after, feed)
    for (let { place, gap } = found; ;) {
      const number = from
      const read = await within(signal, (ending) => readOn(place, feed, query, number, ending))
      gap ||= read.gap
      const shown = await source.withoutErased(accountId, read.entries)
      const leftMs = waitMs - (performance.now() - started)
      const end = read.end && hasReached(feed.upTo, endOf(extent))
      if (shown.length > 0 || gap || !end || leftMs <= 0 || signal.aborted) {
        const items = shown.map((one) => itemOf(one, feed.ring))
        return { items, mark: mark(place, feed.ring, read.from), end, gap }
      }
      from = read.from
      await waitsOf(feed).until({ accountId, from }, { forMs: leftMs, signal })
    }
  }

  /** The ring's entries before this number are behind a mark; 0 if that is not known. */
  function numberAfter(text: string, feed: LiveFeed): number {
    const known = numbers.get(text)
    return known?.ring === feed.ring ? known.next : 0
  }

  function waitsOf(feed: LiveFeed): ReturnType<typeof accountWaits> {
    const own = waits.get(feed) ?? accountWaits(feed)
    waits.set(feed, own)
    return own
  }

  /** Ends the work once it has taken as long as it may. */
  async function within<T>(
    signal: AbortSignal,
    work: (ending: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const late = AbortSignal.timeout(readsForMs)
    return work(AbortSignal.any([signal, late]))
  }

  /** The extent of the log; empty while the log cannot report it: the live reader still has entries to read. */
  async function extentNow(): Promise<readonly Extent[]> {
    try {
      return await log.extent()
    } catch (error) {
      logger.debug({ err: error }, 'reader of a feed without the extent of the log')
      return []
    }
  }

  /** The place as the log knows it; another one if the log has lost it. */
  async function checked(
    after: ReaderPosition,
    extent: readonly Extent[],
    feed: LiveFeed,
    signal: AbortSignal,
  ): Promise<{ readonly place: ReaderPosition; readonly gap: boolean }> {
    const following = { feed, eventLog: log, retryMs, signal, logger }
    await untilAborted(feed.caughtUp, signal)
    if (!feed.isCaughtUp()) throw unavailable('the log has not been read to its end yet')
    const end = endOf(extent)
    if (!hasReached(feed.upTo, end)) await untilRead(end, feed, { forMs: READ_ON_MS, signal })
    // Where the reader's log has left this one is unknown: it gets all that is at hand.
    const anew = () => ({ place: { offsets: { ...feed.ring.before } }, gap: true })
    const { place: offsets, beyond } = await placeInLog(after.offsets, following)
    if (beyond) return anew()
    const { last } = after
    if (last !== undefined && known.get(nameOf(last)) !== last.time) {
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
    signal: AbortSignal,
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
      const ending = new AbortController()
      const items = readPast({
        eventLog: past,
        feed,
        place,
        shownOf: source.shownOf({ accountId, feed, signal }, isWanted),
        retryMs,
        signal: AbortSignal.any([signal, ending.signal]),
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
        ending.abort()
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
        return mark(place, ring, next)
      },
    }
  }
}

function nameOf({ partition, offset }: LastEntry): string {
  return `${partition}/${offset}`
}

function unavailable(message: string): DependencyError {
  return new DependencyError(message, { retriable: true })
}
