import { setTimeout as pause } from 'node:timers/promises'
import type { Origin } from '../../schemas/devices/read-models.ts'
import type { ErasureEntry, FactEntry, PositionEntry } from '../../schemas/events/log-entry.ts'
import type { Extent, ReadableLog } from '../event-log.ts'
import { hasReached, includes, noFurtherThan } from '../offsets.ts'
import type { FollowerLogger, LiveFeed } from './live-feed.ts'
import { lastEntry, type LastEntry, type LogPlace, type ReaderPosition } from './mark.ts'
import type { RingEntry } from './ring.ts'

/** An entry that readers may want. */
export type ReadEntry = PositionEntry | FactEntry | ErasureEntry
export type Wants = (entry: ReadEntry) => boolean

/**
 * A reader of the log, without a buffer: its place moves behind each entry that is taken, from the past
 * (`readPast`) until the ring holds all that follows, then from the ring.
 */
export class LogReader {
  readonly feed: LiveFeed
  readonly place: ReaderPosition
  readonly wants: Wants
  /** The ring's entries before this number are behind the place. */
  next = 0
  /** Its place equalled that of the live reader when the last entry was pushed. */
  isInStep = false

  constructor(feed: LiveFeed, place: ReaderPosition, wants: Wants) {
    this.feed = feed
    this.place = place
    this.wants = wants
  }

  /** Whether the ring holds all that follows. */
  isAtRing(): boolean {
    return this.feed.isCaughtUp() && this.feed.holds(this.place.offsets)
  }

  /** Whether entries that follow have left the ring. */
  isTooLate(): boolean {
    return this.next < this.feed.ring.first
  }

  /** Whether all that the ring holds is behind the place. */
  isAtEnd(): boolean {
    return this.next === this.feed.ring.end
  }

  /** Continues with the ring; its entries before this number are behind the place. */
  enterRing(next = 0): void {
    this.next = Math.max(next, this.feed.ring.first)
  }

  /**
   * Looks at `most` entries of the ring, and takes the wanted ones, gaps, and all that is not from the log. At the
   * end, its place is that of the live reader.
   */
  *fromRing(most = Infinity): Generator<RingEntry, void> {
    const { ring, upTo } = this.feed
    const until = Math.min(ring.end, this.next + most)
    while (this.next < until) {
      const entry = ring.at(this.next)
      this.next += 1
      if (entry !== undefined && this.#takes(entry)) yield entry
    }
    if (!this.isAtEnd() || !(this.isInStep || hasReached(upTo, this.place.offsets))) return
    this.isInStep = true
    Object.assign(this.place.offsets, upTo)
    this.place.last = this.feed.last ?? this.place.last
  }

  #takes(entry: RingEntry): boolean {
    if (!('origin' in entry) || entry.origin === undefined) return true
    const isBack = entry.kind === 'gap' && entry.isBack === true
    if (!isBack && includes(this.place.offsets, entry.origin)) return false
    if (isBack) this.place.last = undefined
    this.moveTo(entry.origin)
    if (entry.kind === 'gap') return true
    if (entry.kind === 'erased' || !this.wants(entry)) return false
    this.pass(entry)
    return true
  }

  /** Moves behind an entry that the reader gets. */
  pass(entry: ReadEntry): void {
    this.moveTo(entry.origin)
    this.place.last = lastEntry(entry)
  }

  moveTo({ partition, offset }: Origin): void {
    if (offset < 0) delete this.place.offsets[partition]
    else this.place.offsets[partition] = offset
  }
}

/** What is needed to look for a place in the log. */
export type Looking = {
  readonly feed: LiveFeed
  readonly log: Pick<ReadableLog, 'tail' | 'extent'>
  readonly retryMs: number
  /** Asked for only if the live reader does not know the answer. */
  readonly ending: () => AbortSignal
  readonly logger: FollowerLogger
}

/**
 * The place where a reader with a mark continues. If it is beyond the end, the mark is of another log, and the
 * reader must not skip new entries. If the entry that it has read last is another one now, the log was restored
 * from a backup; where it has left the reader's log is unknown, so the reader gets all that is at hand.
 */
export async function findPlace(
  claimed: ReaderPosition,
  looking: Looking,
  isKnown: (last: LastEntry) => boolean = () => false,
): Promise<{ readonly place: ReaderPosition; readonly lost?: 'beyond' | 'replaced' }> {
  const { feed } = looking
  const offsets = hasReached(feed.end(), claimed.offsets)
    ? { ...claimed.offsets }
    : await untilAnswered(() => noFurtherThanEnd(claimed.offsets, looking), looking)
  if (offsets === undefined) return { place: claimed }
  if (!hasReached(offsets, claimed.offsets)) return { place: { offsets }, lost: 'beyond' }
  const { last } = claimed
  if (last !== undefined && !isKnown(last)) {
    // Then it most probably has read the entry itself.
    if (!feed.isCaughtUp()) await feed.until(feed.isCaughtUp, { signal: looking.ending() })
    const known = feed.timeAt(last)
    const time = known ?? (await untilAnswered(() => timeInLog(last, looking), looking))
    if (time !== undefined && time !== 'removed' && time !== last.time) {
      return { place: { offsets: { ...feed.ring.before } }, lost: 'replaced' }
    }
  }
  return { place: { offsets, last } }
}

/** Repeats a question until the log answers; undefined if the reader has ended. */
async function untilAnswered<T>(
  ask: () => Promise<T>,
  { retryMs, ending, logger }: Looking,
): Promise<T | undefined> {
  const signal = ending()
  while (!signal.aborted) {
    try {
      return await ask()
    } catch (error) {
      logger.warn({ err: error }, 'reader waiting for the log')
      await pause(retryMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  return undefined
}

/** Another process's feed may be further than the one of this process. */
async function noFurtherThanEnd(place: LogPlace, { feed, log }: Looking): Promise<LogPlace> {
  if (hasReached(feed.end(), place)) return { ...place }
  return noFurtherThan(place, endsOf(await log.extent()))
}

/** The time of the entry at this place: 'none' for one without a time, 'removed' if retention has passed it. */
async function timeInLog(
  { partition, offset }: Origin,
  { log, ending: ended }: Looking,
): Promise<number | 'removed' | 'none'> {
  const extent = await log.extent()
  const own = extent.find((one) => one.partition === partition)
  if (own === undefined || offset >= own.next) return 'none'
  if (offset < own.first) return 'removed'
  const ending = new AbortController()
  const signal = AbortSignal.any([ended(), ending.signal])
  try {
    const after = { ...endsOf(extent), [partition]: offset - 1 }
    for await (const item of log.tail({ after, signal })) {
      if (item.partition !== partition) continue
      if (item.kind === 'gap') return 'removed'
      const entry = item.entries.find(({ origin }) => origin.offset === offset)
      return (entry && lastEntry(entry)?.time) ?? 'none'
    }
  } finally {
    ending.abort()
  }
  return 'removed'
}

/** The last offset of each partition that has had entries. */
function endsOf(extent: readonly Extent[]): LogPlace {
  const written = extent.filter(({ next }) => next > 0)
  return Object.fromEntries(written.map(({ partition, next }) => [partition, next - 1]))
}

/**
 * The extent of the log, by default as it is now, otherwise at most so old. Calls that come while one is under
 * way share the next one: theirs may not have begun before they did.
 */
export function sharedExtent(
  log: Pick<ReadableLog, 'extent'>,
): (forMs?: number) => Promise<readonly Extent[]> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<readonly Extent[]> | undefined
  let known: { readonly at: number; readonly extent: readonly Extent[] } | undefined

  async function ask(): Promise<readonly Extent[]> {
    const at = performance.now()
    const extent = await log.extent()
    known = { at, extent }
    return extent
  }

  return async (forMs = 0) => {
    if (known !== undefined && performance.now() - known.at < forMs) return known.extent
    next ??= last.then(() => {
      next = undefined
      const asked = ask()
      last = asked.catch(() => undefined)
      return asked
    })
    return next
  }
}
