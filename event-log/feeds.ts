import type { DeviceErased } from '../schemas/events/device-erased.ts'
import type { DeviceFact } from '../schemas/facts/facts.ts'
import type { PositionReported } from '../schemas/events/position-reported.ts'

/** Facts and positions for programs that read everything in order and can continue later. */
export interface Feeds {
  readonly facts: Feed<DeviceFact>
  /** Without imported positions. */
  readonly positions: Feed<PositionReported>
}

/**
 * The events of one log, the oldest first and in order per device. No event is missed; one may come twice, with
 * the same id. Events of erased devices are left out from the moment their erasure is answered.
 *
 * A place in the log is named by a mark: an opaque text that any process can continue from, also after a restart.
 */
export interface Feed<Event> {
  /**
   * The mark before everything the log holds (`start`), after it (`end`), or before the first event that was decided
   * or received at this time (milliseconds) or later; a few older ones may follow it.
   * @throws {DependencyError} retriable, when the log is unavailable.
   */
  markAt(place: 'start' | 'end' | number): Promise<string>

  /** Whether this is a mark of this feed, unchanged. Those of another feed are not. */
  isMark(text: string): boolean

  /**
   * Reads on after a mark. Reads at most 50 000 entries of the log, also if few are wanted: so it may return no item
   * although more follow (`end` is false).
   * @throws {DependencyError} retriable, when the log or the store is unavailable, or too many read the past.
   * @throws {Error} for a text that is no mark of this feed.
   */
  read(query: FeedQuery<Event>): Promise<FeedPage<Event>>
}

export type FeedQuery<Event> = {
  readonly accountId: string
  readonly after: string
  /** The most items: at least 1. */
  readonly limit: number
  /** Which events of the account are items. Pure and fast: it is called with each of them. */
  readonly wants: (event: Event) => boolean
  /** Which erasures of the account's devices are items; absent: none. */
  readonly wantsErasure?: ((event: DeviceErased) => boolean) | undefined
  /** How long to wait for the first item at the end of the log; absent: not at all. */
  readonly waitMs?: number
  /** Ends the reading; what was read until then is returned. */
  readonly signal: AbortSignal
}

export type FeedPage<Event> = {
  readonly items: readonly FeedItem<Event>[]
  /** After the last entry read, wanted or not. */
  readonly mark: string
  /** Whether everything that the log held has been read. */
  readonly end: boolean
  /** Entries after the given mark are no longer in the log, it is another log, or some cannot be read. */
  readonly gap: boolean
}

export type FeedItem<Event> = (
  | { readonly kind: 'event'; readonly event: Event }
  | { readonly kind: 'erasure'; readonly event: DeviceErased }
) & {
  /** The mark right after this item. */
  readonly mark: string
}
