import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import { localClock } from '../../schemas/geo/local-time.ts'
import {
  maxAgeMs,
  type DeviceSubscription,
  type Hours,
} from '../../schemas/subscriptions/subscription.ts'
import { timeOfPosition } from '../../schemas/subscriptions/item.ts'

/** How long items due during a receiver's failure are still sent. */
const KEPT_MS = 24 * 3_600_000
const SUNDAY = 7

type Event = DeviceFact | PositionReported

/**
 * Whether an event is still sent, by the time since it was decided or received: a late alarm is
 * still news. `omitted`: it was due while the receiver was failing, and too long ago.
 */
export function ageOf(
  subscription: Pick<DeviceSubscription, 'target' | 'maxAgeSeconds' | 'progress'>,
  event: Event,
  now: number,
): 'sent' | 'omitted' | 'too old' {
  const since = 'recordId' in event ? event.receivedAt : event.decidedAt
  const mostMs = maxAgeMs(subscription)
  if (now - since <= mostMs) return 'sent'
  const { failingSince = Infinity, backlogSince = failingSince } = subscription.progress
  if (since + mostMs < backlogSince) return 'too old'
  return now - since <= KEPT_MS ? 'sent' : 'omitted'
}

/**
 * Whether a subscription is about an event, as far as the event alone shows: its device's labels
 * are not in it.
 */
export function wants(subscription: DeviceSubscription, event: Event): boolean {
  const { deviceIds, labels, hours } = subscription
  const at = 'recordId' in event ? timeOfPosition(event) : event.at
  // The devices with these labels are checked page by page.
  if (labels === undefined && deviceIds && !setOf(deviceIds).has(event.deviceId)) return false
  if (!('recordId' in event) && !wantsFact(subscription, event)) return false
  return hours === undefined || isWithinHours(hours, at)
}

/** A thousand devices are too many to search for each event. */
const sets = new WeakMap<readonly string[], ReadonlySet<string>>()

function setOf(ids: readonly string[]): ReadonlySet<string> {
  const set = sets.get(ids) ?? new Set(ids)
  sets.set(ids, set)
  return set
}

function wantsFact({ types, geofenceIds, ruleIds }: DeviceSubscription, fact: DeviceFact): boolean {
  if (types !== undefined && !types.includes(fact.type)) return false
  if (geofenceIds === undefined && ruleIds === undefined) return true
  const named = 'geofence' in fact ? [fact.geofence.id] : []
  const isAtGeofence = geofenceIds?.some((id) => named.includes(id) || fact.inside.includes(id))
  const isOfRule = 'rule' in fact && ruleIds?.includes(fact.rule.id) === true
  return isAtGeofence === true || isOfRule
}

/** Whether a time is within the hours, in their time zone. */
export function isWithinHours({ days, from, to, zone }: Hours, time: number): boolean {
  const shown = new Date(localClock(zone)(time))
  const minute = shown.getUTCHours() * 60 + shown.getUTCMinutes()
  const today = shown.getUTCDay() || SUNDAY
  const yesterday = today - 1 || SUNDAY
  const [begin, end] = [minutesOf(from), minutesOf(to)]
  if (begin < end) return days.includes(today) && begin <= minute && minute < end
  // The range crosses midnight: the early hours belong to the previous day.
  return minute >= begin ? days.includes(today) : minute < end && days.includes(yesterday)
}

function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return hours * 60 + minutes
}
