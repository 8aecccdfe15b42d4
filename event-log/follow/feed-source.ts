import type { ErasureEntry, FactEntry, PositionEntry } from '../../schemas/events/log-entry.ts'
import type { Offsets } from '../../schemas/devices/read-models.ts'
import type { ReadableLog } from './followed.ts'
import type { LiveFeed } from './live-feed.ts'
import type { MarkedLog, ReaderPosition } from './mark.ts'
import type { ShownOf } from './past.ts'
import type { RingEntry } from './ring.ts'

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
