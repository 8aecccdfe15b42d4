import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { DeviceFact } from '../../schemas/facts/facts.ts'
import { localClock } from '../../schemas/geo/local-time.ts'
import {
  maxAgeMs,
  type DeviceSubscription,
  type Hours,
} from '../../schemas/subscriptions/subscription.ts'
import { timeOfPosition } from '../../schemas/subscriptions/item.ts'

/** Kept for this long is what was due while the receiver failed. */
const KEPT_MS = 24 * 3_600_000
const SUNDAY = 7

type Event = DeviceFact | PositionReported

/**
 * Whether an event is still sent, by the time since it was decided, or received: a late alarm is news. `left out`: the
 * receiver failed when it was due, and for too long.
 */
export function ageOf(
  subscription: Pick<DeviceSubscription, 'target' | 'maxAgeSeconds' | 'progress'>,
  event: Event,
  now: number,
): 'sent' | 'left out' | 'too old' {
  const since = 'recordId' in event ? event.receivedAt : event.decidedAt
  const mostMs = maxAgeMs(subscription)
  if (now - since <= mostMs) return 'sent'
  const { failingSince = Infinity, backlogSince = failingSince } = subscription.progress
  if (since + mostMs < backlogSince) return 'too old'
  return now - since <= KEPT_MS ? 'sent' : 'left out'
}

/** Whether a subscription is about an event, as far as the event alone shows it: not its device's labels. */
export function wants(subscription: DeviceSubscription, event: Event): boolean {
  const { deviceIds, labels, hours } = subscription
  const at = 'recordId' in event ? timeOfPosition(event) : event.at
  // The devices of labels are looked at page by page.
  if (labels === undefined && deviceIds && !setOf(deviceIds).has(event.deviceId)) return false
  if (!('recordId' in event) && !wantsFact(subscription, event)) return false
  return hours === undefined || isWithinHours(hours, at)
}

/** A thousand devices are too many to be looked through for each event. */
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

/** Whether a time is within the hours, by the clock of their zone. */
export function isWithinHours({ days, from, to, zone }: Hours, time: number): boolean {
  const shown = new Date(localClock(zone)(time))
  const minute = shown.getUTCHours() * 60 + shown.getUTCMinutes()
  const today = shown.getUTCDay() || SUNDAY
  const yesterday = today - 1 || SUNDAY
  const [begin, end] = [minutesOf(from), minutesOf(to)]
  if (begin < end) return days.includes(today) && begin <= minute && minute < end
  // Over midnight: the early hours belong to the day before.
  return minute >= begin ? days.includes(today) : minute < end && days.includes(yesterday)
}

function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return hours * 60 + minutes
}
