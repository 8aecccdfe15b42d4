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
 * The events of one log, the oldest first and in order per device. No event is missed; an event may
 * be delivered twice, with the same id. Events of erased devices are omitted as soon as the
 * erasure is confirmed.
 *
 * A position in the log is named by a mark: an opaque text from which any process can continue,
 * even after a restart.
 */
export interface Feed<Event> {
  /**
   * The mark before everything the log holds (`start`), after it (`end`), or before the first event
   * that was decided or received at this time (milliseconds) or later; a few older events may
   * follow it.
   * @throws {DependencyError} retriable, when the log is unavailable.
   */
  markAt(place: 'start' | 'end' | number): Promise<string>

  /** Whether this is an unchanged mark of this feed, and not of another feed. */
  isMark(text: string): boolean

  /**
   * Reads on after a mark. Reads at most 50 000 entries of the log, even if few are wanted, so it
   * may return no item although more follow (`end` is false).
   * @throws {DependencyError} retriable, when the log or the store is unavailable, or too many
   * readers read the past.
   * @throws {Error} for a text that is not a mark of this feed.
   */
  read(query: FeedQuery<Event>): Promise<FeedPage<Event>>
}

export type FeedQuery<Event> = {
  readonly accountId: string
  readonly after: string
  /** Maximum number of items (≥ 1). */
  readonly limit: number
  /** Selects which of the account's events are items. Pure and fast: called for every event. */
  readonly wants: (event: Event) => boolean
  /** Selects which erasures of the account's devices are items; without it, no erasures are. */
  readonly wantsErasure?: ((event: DeviceErased) => boolean) | undefined
  /** How long to wait for the first item at the end of the log; by default not at all. */
  readonly waitMs?: number
  /** Ends the reading; items read by then are returned. */
  readonly signal: AbortSignal
}

export type FeedPage<Event> = {
  readonly items: readonly FeedItem<Event>[]
  /** The mark after the last entry read, wanted or not. */
  readonly mark: string
  /** Whether everything in the log has been read. */
  readonly end: boolean
  /**
   * Entries after the given mark are no longer in the log, the log is a different one, or some
   * entries cannot be read.
   */
  readonly gap: boolean
}

export type FeedItem<Event> = (
  | { readonly kind: 'event'; readonly event: Event }
  | { readonly kind: 'erasure'; readonly event: DeviceErased }
) & {
  /** The mark directly after this item. */
  readonly mark: string
}
