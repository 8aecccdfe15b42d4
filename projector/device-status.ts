import { includes, setOffset } from '../event-log/offsets.ts'
import { isDeviceSeen, type AppendedEvent } from '../schemas/events/appended-event.ts'
import { foldReadings, addReading, type ReadingKind } from '../schemas/devices/device-readings.ts'
import type { DeviceSeen } from '../schemas/events/device-seen.ts'
import { compareOrigins, comparePositionTimes, seenAt } from '../schemas/geo/position-order.ts'
import type { RepeatEntry, ReportEntry } from '../schemas/events/log-entry.ts'
import type { PositionReported } from '../schemas/events/position-reported.ts'
import { addOptionalFields } from '../schemas/report/report-fields.ts'
import {
  isSentLast,
  updateReceived,
  type DeviceStatus,
  type LastPosition,
  type Origin,
} from '../schemas/devices/read-models.ts'

/**
 * The version of the fold, recorded with the read models it produces. Increase it with every change
 * of the statuses that the same log results in, whether in this fold or in the entries that stores
 * pass to it: a rebuild compares statuses of equal versions only.
 */
export const FOLD_VERSION = 3

type Placed<Event> = {
  readonly origin: Origin
  readonly event: Event
  readonly kind?: ReportEntry['kind'] | RepeatEntry['kind']
}

/**
 * Folds one event into its device's status. Returns `previous` itself if the event has already been
 * applied. The result does not depend on the order in which reports arrived: a late report is
 * counted and may advance `lastSeenAt`, but does not replace a newer position. A heartbeat may
 * advance `lastSeenAt` of a device that has a position, and update the key last used and the
 * readings, but nothing else. The same applies to a repeat, unless imported: phones at rest and
 * trackers indoors send their last fix again and again. Readings count only in a repeat of the last
 * position.
 */
export function deviceStatus(
  previous: DeviceStatus | undefined,
  entry: Placed<PositionReported>,
): DeviceStatus
export function deviceStatus(
  previous: DeviceStatus | undefined,
  entry: Placed<AppendedEvent>,
): DeviceStatus | undefined
export function deviceStatus(
  previous: DeviceStatus | undefined,
  { origin, event, kind }: Placed<AppendedEvent>,
): DeviceStatus | undefined {
  if (isDeviceSeen(event))
    return previous && foldHeartbeat(previous, { origin, event }, 'heartbeats')
  if (kind === 'repeat') return previous && isRepeat(previous, { origin, event })
  const { receivedAt } = event
  const isImported = event.imported === true
  const heardAt = seenAt(event)
  if (previous === undefined) {
    return {
      accountId: event.accountId,
      deviceId: event.deviceId,
      firstSeenAt: heardAt,
      lastSeenAt: heardAt,
      lastReceivedAt: receivedAt,
      lastKeyAt: isImported ? 0 : receivedAt,
      lastKeyEventId: isImported ? '' : event.recordId,
      lastKeyId: isImported ? '' : event.keyId,
      reportCount: 1,
      lastPosition: lastPosition(event),
      lastOrigin: origin,
      applied: setOffset({}, origin),
    }
  }
  if (includes(previous.applied, origin)) return previous
  const isLast = !isImported && isSentLast(receivedAt, event.recordId, previous)
  const isLatest = isLater(event, origin, previous)
  const status = {
    accountId: previous.accountId,
    deviceId: previous.deviceId,
    firstSeenAt: Math.min(previous.firstSeenAt, heardAt),
    lastSeenAt: Math.max(previous.lastSeenAt, heardAt),
    lastReceivedAt: Math.max(previous.lastReceivedAt, receivedAt),
    lastKeyAt: isLast ? receivedAt : previous.lastKeyAt,
    lastKeyEventId: isLast ? event.recordId : previous.lastKeyEventId,
    lastKeyId: isLast ? event.keyId : previous.lastKeyId,
    reportCount: previous.reportCount + 1,
    lastPosition: isLatest ? lastPosition(event) : previous.lastPosition,
    lastOrigin: isLatest ? origin : previous.lastOrigin,
    applied: setOffset(previous.applied, origin),
  }
  const { heartbeats, readings } = previous
  if (heartbeats === undefined && readings === undefined) return status
  const kept = isLatest ? foldReadings(event, readings) : readings
  return {
    ...status,
    ...(heartbeats !== undefined && { heartbeats }),
    ...(kept !== undefined && { readings: kept }),
  }
}

function isRepeat(previous: DeviceStatus, { origin, event }: Placed<PositionReported>) {
  if (event.imported === true) return previous
  const isOfLast = event.recordId === previous.lastPosition.recordId
  const sign = { ...event, eventId: event.recordId }
  return foldHeartbeat(previous, { origin, event: sign }, isOfLast ? 'repeats' : undefined)
}

/** `kind` is the kind of the heartbeat's readings; undefined if they do not count. */
function foldHeartbeat(
  previous: DeviceStatus,
  { origin, event }: Placed<DeviceSeen>,
  kind: ReadingKind | undefined,
): DeviceStatus {
  if (includes(previous.applied, origin)) return previous
  const { partition, offset } = origin
  const { eventId, keyId, receivedAt } = event
  const newest = previous.heartbeats?.[partition]
  const isNewest =
    newest === undefined ||
    receivedAt > newest.receivedAt ||
    (receivedAt === newest.receivedAt && eventId > newest.eventId)
  const heartbeat = isNewest ? { offset, receivedAt, eventId, keyId } : newest
  const readings = kind && addReading(previous.readings, kind, origin, event)
  return {
    ...updateReceived(previous, event),
    ...(readings !== undefined && { readings }),
    heartbeats: { ...previous.heartbeats, [partition]: heartbeat },
    applied: setOffset(previous.applied, origin),
  }
}

/** Whether a position is after the last one in the total order of positions. */
function isLater(
  event: PositionReported,
  origin: Origin,
  { lastPosition: last, lastOrigin, applied }: DeviceStatus,
): boolean {
  const byTime = comparePositionTimes(event, last)
  if (byTime !== 0) return byTime > 0
  if (lastOrigin !== undefined) return compareOrigins(origin, lastOrigin) > 0
  // A status written by an earlier version has only its partitions: usually one, and this event
  // comes after it.
  const [partition, ...others] = Object.keys(applied)
  if (partition === undefined || others.length > 0) return event.recordId > last.recordId
  return origin.partition >= Number(partition)
}

function lastPosition(event: PositionReported): LastPosition {
  const { recordId, latitude, longitude, timestamp, receivedAt } = event
  return addOptionalFields({ recordId, latitude, longitude, timestamp, receivedAt }, event)
}
