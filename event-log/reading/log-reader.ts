import { setTimeout as pause } from 'node:timers/promises'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { Origin } from '../../schemas/devices/read-models.ts'
import type { ErasureEntry, FactEntry, PositionEntry } from '../../schemas/events/log-entry.ts'
import type { FollowedEntry, LogBatch, ReadableLog, TailItem } from '../event-log.ts'
import { hasReached, includes } from '../offsets.ts'
import type { FollowerLogger, LiveFeed } from './live-feed.ts'
import { lastEntry, type ReaderPosition } from './mark.ts'
import type { GapReason, RingEntry } from './ring.ts'

/** An entry that readers may want. */
export type ReadEntry = PositionEntry | FactEntry | ErasureEntry
export type Wants = (entry: ReadEntry) => boolean

/**
 * A reader of the log, without a buffer: its position advances past each entry taken, from the past
 * (`readPast`) until the ring holds all later entries, then from the ring.
 */
export class LogReader {
  readonly feed: LiveFeed
  readonly place: ReaderPosition
  readonly wants: Wants
  /** The ring's entries before this number lie before the position. */
  next = 0
  /** Whether this reader was at the live reader's position when the last entry was pushed. */
  isInStep = false

  constructor(feed: LiveFeed, place: ReaderPosition, wants: Wants) {
    this.feed = feed
    this.place = place
    this.wants = wants
  }

  /** Whether the ring holds all later entries. */
  isAtRing(): boolean {
    return this.feed.isCaughtUp() && this.feed.holds(this.place.offsets)
  }

  /** Whether later entries have left the ring. */
  isTooLate(): boolean {
    return this.next < this.feed.ring.first
  }

  /** Whether everything in the ring lies before the position. */
  isAtEnd(): boolean {
    return this.next === this.feed.ring.end
  }

  /** Continues with the ring; its entries before this number lie before the position. */
  enterRing(next = 0): void {
    this.next = Math.max(next, this.feed.ring.first)
  }

  /**
   * Scans `most` entries of the ring, and takes wanted entries, gaps, and everything that is not
   * from the log. At the end, its position is that of the live reader.
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

  /** Advances past an entry that the reader receives. */
  pass(entry: ReadEntry): void {
    this.moveTo(entry.origin)
    this.place.last = lastEntry(entry)
  }

  moveTo({ partition, offset }: Origin): void {
    if (offset < 0) delete this.place.offsets[partition]
    else this.place.offsets[partition] = offset
  }
}

export type PastItem =
  | {
      readonly kind: 'entries'
      /**
       * The reader's position advances as entries are taken; taking the last one moves it past the
       * whole batch.
       */
      readonly entries: Iterable<ReadEntry>
      /** The number of entries in the batch. */
      readonly read: number
    }
  | { readonly kind: 'gap'; readonly reason: GapReason }

/**
 * Keeps the entries that no later erasure covers; undefined if a pending erasure has not arrived in
 * time.
 */
export type NotErased = (
  batch: LogBatch<FollowedEntry>,
  entries: readonly ReadEntry[],
) => Promise<readonly ReadEntry[] | undefined>

/**
 * Reads what the ring no longer holds with a separate tail, until the ring holds the rest. Returns
 * true at the ring; false if the reader has ended or erasures are unknown. Announces at most one
 * gap.
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
      logger.warn({ err: error }, 'history reader could not read the log; retrying')
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
        logger.debug({ err: error }, 'could not close a history reader')
      })
    }
  }

  /** Undefined if the ring holds the rest before an entry arrives. */
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
    else yield { kind: 'entries', entries: takeEntries(entries, item), read: item.entries.length }
  }

  function* announceGap(reason: GapReason): Generator<PastItem, void> {
    if (!gapAnnounced) yield { kind: 'gap', reason }
    gapAnnounced = true
  }

  function isWanted(entry: FollowedEntry): entry is ReadEntry {
    if (entry.kind === 'position') return entry.event.imported !== true && reader.wants(entry)
    return (entry.kind === 'fact' || entry.kind === 'erasure') && reader.wants(entry)
  }

  function* takeEntries(
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
