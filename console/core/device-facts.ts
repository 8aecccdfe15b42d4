import { factSentence } from '../../schemas/facts/sentence.ts'
import type { FactType } from '../../schemas/facts/types.ts'
import type { components } from '../api/schema.ts'
import { devicePath } from './address.ts'
import { date, time } from './times.ts'

export { isSos, sentenceParts } from '../../schemas/facts/sentence.ts'

/** A fact about a device, which the console calls an event. */
export type ApiFact = components['schemas']['HandledFact']

/** Display names of event types, for the type filter. */
export const FACT_WORDS: Readonly<Record<FactType, string>> = {
  'alarm.reported': 'Alarm reported',
  'geofence.entered': 'Geofence entered',
  'geofence.left': 'Geofence left',
  'rule.raised': 'Rule raised',
  'rule.cleared': 'Rule ended',
  'device.offline': 'Device went offline',
  'device.online': 'Device came online',
}

/** A fact as worded on its device's own page: `Left Yard after 2 h 10 min`. */
export function sentenceOnDevicePage(fact: ApiFact): string {
  const text = factSentence(fact, '').replace(/^[:\s]+/, '')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export type FactFilter = {
  readonly type?: FactType
  readonly deviceId?: string
  readonly label?: string
  readonly geofenceId?: string
  readonly ruleId?: string
  readonly from?: string
  readonly to?: string
}

/** The path to a fact's time: the device's position then, and its track of that day. */
export function factPath({ deviceId, at }: ApiFact, zone: string): string {
  return momentPath(deviceId, Date.parse(at), zone)
}

/** The path to a device's day, with a selected time. */
export function momentPath(deviceId: string, ms: number, zone: string): string {
  const query = new URLSearchParams({ day: date(ms, zone), at: time(ms, zone) })
  return `${devicePath(deviceId)}?${query}`
}

/**
 * Whether a list with this filter contains the fact.
 * @param labels of its device.
 */
export function isFactOf(
  fact: ApiFact,
  filter: FactFilter,
  labels: readonly string[] = [],
): boolean {
  const { type, deviceId, label, geofenceId, ruleId, from, to } = filter
  const ms = Date.parse(fact.at)
  return (
    (type === undefined || type === fact.type) &&
    (deviceId === undefined || deviceId === fact.deviceId) &&
    (label === undefined || labels.includes(label)) &&
    (geofenceId === undefined || geofenceId === fact.geofence?.id) &&
    (ruleId === undefined || ruleId === fact.rule?.id) &&
    (from === undefined || ms >= Date.parse(from)) &&
    (to === undefined || ms < Date.parse(to))
  )
}

/** Merges both lists, each fact once, the latest first, as the API lists them. */
export function mergeFacts(
  some: readonly ApiFact[],
  others: readonly ApiFact[],
): readonly ApiFact[] {
  const byId = new Map([...some, ...others].map((fact) => [fact.id, fact]))
  return [...byId.values()].sort((a, b) =>
    a.at === b.at ? (a.id < b.id ? 1 : -1) : a.at < b.at ? 1 : -1,
  )
}
