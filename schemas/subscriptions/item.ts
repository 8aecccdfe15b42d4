import { createHash } from 'node:crypto'
import type { DeviceFact } from '../facts/facts.ts'
import type { LastPosition } from '../devices/read-models.ts'
import { factSentence } from '../facts/sentence.ts'
import { localClock } from '../geo/local-time.ts'

const LONGEST_SENTENCE = 1_000
const LEFT_OUT = 'from the time when this receiver failed: omitted, older than 24 hours.'
const GAP = 'Some events before this one are no longer stored and could not be sent.'
const TEST = 'This is a test: notifications arrive here.'

/** Something to notify a receiver of. Times in milliseconds since the epoch. */
export type Item = {
  /** The same for every attempt to send the item. */
  readonly id: string
  /** When the event happened. */
  readonly at: number
  /** Time since which the item could have been sent. */
  readonly since: number
} & (
  | { readonly kind: 'fact'; readonly fact: DeviceFact }
  | { readonly kind: 'position'; readonly position: PlacedPosition }
  /**
   * Entries before the next item are no longer in the log, or items (`leftOut`) waited too long.
   */
  | { readonly kind: 'gap'; readonly leftOut: number; readonly isMissing: boolean }
  | { readonly kind: 'test' }
)

/** An item, with its device's name. */
export type Told = { readonly item: Item; readonly deviceName: string }

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

export function gapItem(
  mark: string,
  now: number,
  gap: { readonly leftOut: number; readonly isMissing: boolean },
): Item {
  return { kind: 'gap', id: `gap_${hashOf(mark)}`, at: now, since: now, ...gap }
}

export function testItem(id: string, now: number): Item {
  return { kind: 'test', id, at: now, since: now }
}

export function deviceIdOf(item: Item): string | undefined {
  if (item.kind === 'fact') return item.fact.deviceId
  return item.kind === 'position' ? item.position.deviceId : undefined
}

/** Identifies a batch: the same items have the same id. */
export function batchId(items: readonly { readonly id: string }[]): string {
  return `batch_${hashOf(items.map(({ id }) => id).join())}`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** An item as a sentence, without its time. */
export function itemSentence({ item, deviceName }: Told): string {
  switch (item.kind) {
    case 'fact':
      return factSentence(item.fact, toOneLine(deviceName))
    case 'gap': {
      const { leftOut, isMissing } = item
      const counted = leftOut === 0 ? [] : [`${leftOut} ${eventsText(leftOut)} ${LEFT_OUT}`]
      return [...(isMissing ? [GAP] : []), ...counted].join(' ')
    }
    case 'test':
      return TEST
    case 'position':
      return `${toOneLine(deviceName)} reported a position`
  }
}

function eventsText(count: number): string {
  return count === 1 ? 'event' : 'events'
}

/** Returns the sentence with its time, for readers that see nothing else. */
export function sentenceWithTime(told: Told, zone: string): string {
  const { item } = told
  if (item.kind === 'gap' || item.kind === 'test') return itemSentence(told)
  return `${clip(toOneLine(itemSentence(told)))} (${timeText(item.at, zone)})`
}

export function titleOf({ item, deviceName }: Told): string {
  return deviceIdOf(item) === undefined ? 'GPS' : toOneLine(deviceName)
}

/** `2026-01-01 14:05 UTC` */
function timeText(at: number, zone: string): string {
  const shown = new Date(localClock(zone)(at)).toISOString()
  return `${shown.slice(0, 10)} ${shown.slice(11, 16)} ${zone}`
}

/**
 * Names and alarms come from devices: they must not start a new line or change the text direction.
 */
function toOneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu, ' ')
}

function clip(text: string): string {
  const signs = [...text]
  return signs.length <= LONGEST_SENTENCE
    ? text
    : `${signs.slice(0, LONGEST_SENTENCE - 1).join('')}…`
}
