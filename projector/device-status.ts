import { includes } from '../event-log/offsets.ts'
import { isDeviceSeen, type AppendedEvent } from '../schemas/appended-event.ts'
import type { DeviceSeen } from '../schemas/device-seen.ts'
import type { PositionReported } from '../schemas/position-reported.ts'
import { withOptionalFields } from '../schemas/report-fields.ts'
import {
  compareOrigins,
  isReceivedLast,
  withReceived,
  type DeviceStatus,
  type LastPosition,
  type Origin,
} from '../schemas/read-models.ts'

/**
 * The version of the fold, recorded with the read models that it makes. Raise it with every change of
 * the statuses that come out of the same log, be it in this fold or in the entries that stores pass to it:
 * a rebuild compares statuses of equal versions only.
 */
export const FOLD_VERSION = 2

type Placed<Event> = { readonly origin: Origin; readonly event: Event }

/**
 * Folds one event into its device's status. Returns `previous` itself if the event has already been
 * applied. The result does not depend on the order in which reports arrived: a late report is
 * counted and may advance `lastSeenAt`, but does not replace a newer position. A heartbeat may
 * advance `lastSeenAt` of a device that has a position, with the key last used, and does nothing else.
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
  { origin, event }: Placed<AppendedEvent>,
): DeviceStatus | undefined {
  if (isDeviceSeen(event)) return previous && heard(previous, { origin, event })
  const { receivedAt } = event
  const seenAt = event.imported === true ? Math.min(event.timestamp, receivedAt) : receivedAt
  if (previous === undefined) {
    return {
      accountId: event.accountId,
      deviceId: event.deviceId,
      firstSeenAt: seenAt,
      lastSeenAt: seenAt,
      lastReceivedAt: receivedAt,
      lastReceivedId: event.recordId,
      lastKeyId: event.keyId,
      reportCount: 1,
      lastPosition: lastPosition(event),
      lastOrigin: origin,
      applied: { [origin.partition]: origin.offset },
    }
  }
  if (includes(previous.applied, origin)) return previous
  const isLast = isReceivedLast(receivedAt, event.recordId, previous)
  const isLatest = isLater(event, origin, previous)
  const status = {
    accountId: previous.accountId,
    deviceId: previous.deviceId,
    firstSeenAt: Math.min(previous.firstSeenAt, seenAt),
    lastSeenAt: Math.max(previous.lastSeenAt, seenAt),
    lastReceivedAt: isLast ? receivedAt : previous.lastReceivedAt,
    lastReceivedId: isLast ? event.recordId : previous.lastReceivedId,
    lastKeyId: isLast ? event.keyId : previous.lastKeyId,
    reportCount: previous.reportCount + 1,
    lastPosition: isLatest ? lastPosition(event) : previous.lastPosition,
    lastOrigin: isLatest ? origin : previous.lastOrigin,
    applied: { ...previous.applied, [origin.partition]: origin.offset },
  }
  const { heartbeats } = previous
  return heartbeats === undefined ? status : { heartbeats, ...status }
}

function heard(previous: DeviceStatus, { origin, event }: Placed<DeviceSeen>): DeviceStatus {
  if (includes(previous.applied, origin)) return previous
  const { partition, offset } = origin
  const { eventId, keyId, receivedAt } = event
  const newest = previous.heartbeats?.[partition]
  const isNewest =
    newest === undefined ||
    receivedAt > newest.receivedAt ||
    (receivedAt === newest.receivedAt && eventId > newest.eventId)
  const heartbeat = isNewest ? { offset, receivedAt, eventId, keyId } : newest
  return {
    ...withReceived(previous, event),
    heartbeats: { ...previous.heartbeats, [partition]: heartbeat },
    applied: { ...previous.applied, [partition]: offset },
  }
}

/**
 * The total order of positions: (min(timestamp, receivedAt), receivedAt, place in the log). The minimum
 * keeps a timestamp in the future from pinning the position until that time.
 */
function isLater(
  event: PositionReported,
  origin: Origin,
  { lastPosition: last, lastOrigin, applied }: DeviceStatus,
): boolean {
  const byTime =
    Math.min(event.timestamp, event.receivedAt) - Math.min(last.timestamp, last.receivedAt)
  if (byTime !== 0) return byTime > 0
  if (event.receivedAt !== last.receivedAt) return event.receivedAt > last.receivedAt
  if (lastOrigin !== undefined) return compareOrigins(origin, lastOrigin) > 0
  // Of a status of an earlier version only its partitions are known: usually one, and this event comes after it.
  const [partition, ...others] = Object.keys(applied)
  if (partition === undefined || others.length > 0) return event.recordId > last.recordId
  return origin.partition >= Number(partition)
}

function lastPosition(event: PositionReported): LastPosition {
  const { recordId, latitude, longitude, timestamp, receivedAt } = event
  return withOptionalFields({ recordId, latitude, longitude, timestamp, receivedAt }, event)
}
