import { localClock } from '../../schemas/geo/local-time.ts'
import { factSentence } from '../../schemas/facts/sentence.ts'
import { deviceIdOf, type Item } from '../item.ts'

/** An item, and what its device is called. */
export type Told = { readonly item: Item; readonly deviceName: string }

const LONGEST = 1_000
const GAP = 'Some events before this one are no longer kept and could not be sent.'
const TEST = 'This is a test: notifications arrive here.'

/** An item as a sentence; it has no time. */
export function itemSentence({ item, deviceName }: Told): string {
  switch (item.kind) {
    case 'fact':
      return factSentence(item.fact, oneLine(deviceName))
    case 'gap':
      return GAP
    case 'test':
      return TEST
    case 'position':
      return `${oneLine(deviceName)} reported a position`
  }
}

/** The same with its time, for readers that see nothing else. */
export function timedSentence(told: Told, zone: string): string {
  const { item } = told
  if (item.kind === 'gap' || item.kind === 'test') return itemSentence(told)
  return `${clipped(oneLine(itemSentence(told)))} (${timeText(item.at, zone)})`
}

export function titleOf({ item, deviceName }: Told): string {
  return deviceIdOf(item) === undefined ? 'GPS' : oneLine(deviceName)
}

/** `2026-01-01 14:05 UTC` */
function timeText(at: number, zone: string): string {
  const shown = new Date(localClock(zone)(at)).toISOString()
  return `${shown.slice(0, 10)} ${shown.slice(11, 16)} ${zone}`
}

/** Names and alarms come from devices: they begin no line of their own, and turn no text around. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu, ' ')
}

function clipped(text: string): string {
  const signs = [...text]
  return signs.length <= LONGEST ? text : `${signs.slice(0, LONGEST - 1).join('')}…`
}
