import { createHash } from 'node:crypto'
import type { FeedItem } from '../event-log/feeds.ts'
import type { DeviceFact } from '../schemas/facts/facts.ts'
import type { PositionReported } from '../schemas/events/position-reported.ts'
import type { LastPosition } from '../schemas/devices/read-models.ts'

/** Something to tell a receiver. Times in milliseconds since the epoch. */
export type Item = {
  /** The same whenever it is sent. */
  readonly id: string
  /** When it happened. */
  readonly at: number
  /** Since when it could have been sent. */
  readonly since: number
} & (
  | { readonly kind: 'fact'; readonly fact: DeviceFact }
  | { readonly kind: 'position'; readonly position: PlacedPosition }
  /** Entries before the next item are no longer in the log. */
  | { readonly kind: 'gap' }
  | { readonly kind: 'test' }
)

/** An event of the log, or a record. */
type PlacedPosition = LastPosition & { readonly deviceId: string }

export function factItem(fact: DeviceFact): Item {
  return { kind: 'fact', id: fact.id, at: fact.at, since: fact.decidedAt, fact }
}

export function positionItem(position: PlacedPosition): Item {
  const { recordId: id, receivedAt: since } = position
  return { kind: 'position', id, at: timeOfPosition(position), since, position }
}

export function timeOfPosition({
  timestamp,
  receivedAt,
}: Pick<LastPosition, 'timestamp' | 'receivedAt'>): number {
  return Math.min(timestamp, receivedAt)
}

export function gapItem(mark: string, now: number): Item {
  return { kind: 'gap', id: `gap_${hashOf(mark)}`, at: now, since: now }
}

/** An item of a page, without erasures. */
export function itemOf(item: FeedItem<DeviceFact | PositionReported>): Item | undefined {
  if (item.kind === 'erasure') return undefined
  return 'recordId' in item.event ? positionItem(item.event) : factItem(item.event)
}

export function deviceIdOf(item: Item): string | undefined {
  if (item.kind === 'fact') return item.fact.deviceId
  return item.kind === 'position' ? item.position.deviceId : undefined
}

/** Names a batch: the same items have the same id. */
export function batchId(items: readonly { readonly id: string }[]): string {
  return `batch_${hashOf(items.map(({ id }) => id).join())}`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}
