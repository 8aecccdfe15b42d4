import type { DeviceFact } from '../schemas/facts/facts.ts'
import type { PositionReported } from '../schemas/events/position-reported.ts'
import type { DeviceSubscription, Hours } from '../schemas/subscriptions/subscription.ts'
import { localClock } from '../schemas/geo/local-time.ts'
import { timeOfPosition } from './item.ts'

/** Mails and chats are for what happens now. */
const MAX_AGE_SECONDS = 3_600
const SUNDAY = 7

type Event = DeviceFact | PositionReported

/** Whether a subscription sends an event, as far as the event alone shows it: not its device's labels. */
export function wants(subscription: DeviceSubscription, event: Event, now: number): boolean {
  const { deviceIds, labels, hours, maxAgeSeconds = maxAgeOf(subscription) } = subscription
  const at = 'recordId' in event ? timeOfPosition(event) : event.at
  if (maxAgeSeconds !== undefined && now - at > maxAgeSeconds * 1_000) return false
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

function maxAgeOf({ target }: DeviceSubscription): number | undefined {
  return target.kind === 'webhook' ? undefined : MAX_AGE_SECONDS
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
