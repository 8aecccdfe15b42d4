import type { AttributeValue } from './report-fields.ts'

const MOST_NAMES = 16
const LONGEST_NAME = 64
/** The values that trackers send where there is no alarm. */
const NO_ALARM = new Set(['', '0', 'false', 'no', 'none', 'null', 'normal', 'off', 'ok', '-'])

/** The alarms that the attribute `alarm` names, as sent, each once: it may be a list (`"sos,lowBattery"`). */
export function alarmNames(alarm: AttributeValue | undefined): readonly string[] {
  if (alarm === undefined) return []
  const names = new Map<string, string>()
  for (const part of String(alarm).split(',')) {
    const name = part.trim().slice(0, LONGEST_NAME).toWellFormed()
    const key = alarmKey(name)
    if (NO_ALARM.has(key) || names.has(key)) continue
    names.set(key, name)
    if (names.size === MOST_NAMES) break
  }
  return [...names.values()]
}

/** Names with the same key are the same alarm. */
export function alarmKey(name: string): string {
  return name.toLowerCase()
}
