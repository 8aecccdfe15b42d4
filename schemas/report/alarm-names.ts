import { LRUCache } from 'lru-cache'
import type { AttributeValue } from './report-fields.ts'

const MOST_NAMES = 16
const LONGEST_NAME = 64
/** The values that trackers send when there is no alarm. */
const NO_ALARM = new Set(['', '0', 'false', 'no', 'none', 'null', 'normal', 'off', 'ok', '-'])

type Names = ReadonlyMap<string, string>

const NONE: Names = new Map()
/** A tracker repeats the same alarms in many reports. */
const known = new LRUCache<AttributeValue, Names>({ max: 500 })

/**
 * The alarms named by the attribute `alarm`, as sent, by their keys: it may be a list
 * (`"sos,lowBattery"`).
 */
export function alarmNames(alarm: AttributeValue | undefined): Names {
  if (alarm === undefined) return NONE
  const before = known.get(alarm)
  if (before !== undefined) return before
  const names = splitNames(String(alarm))
  known.set(alarm, names)
  return names
}

function splitNames(list: string): Names {
  const names = new Map<string, string>()
  for (const part of list.split(',')) {
    const name = part.trim().slice(0, LONGEST_NAME).toWellFormed()
    const key = alarmKey(name)
    if (NO_ALARM.has(key) || names.has(key)) continue
    names.set(key, name)
    if (names.size === MOST_NAMES) break
  }
  return names
}

/**
 * Whether the attribute `alarm` equals a text, ignoring case and order, or names it among other
 * alarms.
 */
export function isAlarm(alarm: AttributeValue, text: string): boolean {
  const key = alarmKey(text.trim())
  return alarmNames(alarm).has(key) || alarmKey(String(alarm).trim()) === key
}

/** Names with the same key are the same alarm. */
export function alarmKey(name: string): string {
  return name.toLowerCase()
}
