import { foldReadings, type Readings } from './device-readings.ts'
import { livenessOf, type Liveness } from './liveness.ts'
import type { PositionReported } from '../events/position-reported.ts'
import {
  addOptionalFields,
  type Attributes,
  type Coordinate,
  type MeasurementValues,
  type OptionalFields,
} from '../report/report-fields.ts'
import { isoTime } from '../text/iso-8601.ts'

/** The position of an event in the log. */
export type Origin = { readonly partition: number; readonly offset: number }

/**
 * The position of a record in its device's history: by time, and at equal times by its origin in
 * the log.
 */
export type HistoryPlace = { readonly timestamp: number; readonly origin: Origin }

/** The last offset processed in each partition; partitions without processed entries are absent. */
export type Offsets = Readonly<Record<number, number>>

/** The last event applied in each partition: its offset and its id. */
export type AppliedEvents = Readonly<
  Record<number, { readonly offset: number; readonly id: string }>
>

/** A stored position: its event and the event's origin. */
export type PositionRecord = PositionReported & { readonly origin: Origin }

/** The fields that a track and its trips are computed from; null if not reported. */
export type TrackStep = HistoryPlace & {
  readonly latitude: number
  readonly longitude: number
  readonly speed: number | null
  readonly recordId: string
  readonly accuracy: number | null
}

/** The fields of a record returned for a track's points; null if not reported. */
export type TrackRow = readonly [
  timestamp: number,
  latitude: number,
  longitude: number,
  ...measurements: MeasurementValues,
  attributes: Attributes | null,
  imported: true | null,
  recordId: string,
]

/** The fields of a record that the device status includes. */
export type LastPosition = OptionalFields &
  Pick<PositionReported, 'recordId' | Coordinate | 'timestamp' | 'receivedAt'>

/**
 * The newest heartbeat from a partition, or the newest repeat of a record, whose `eventId` is that
 * of the record.
 */
export type NewestHeartbeat = {
  readonly offset: number
  readonly receivedAt: number
  readonly eventId: string
  readonly keyId: string
}

/** The status of a device, a pure fold over its events. Times in milliseconds. */
export type DeviceStatus = {
  readonly accountId: string
  readonly deviceId: string
  readonly firstSeenAt: number
  /**
   * The newest `receivedAt` of the device's records, repeats and heartbeats; an imported record
   * counts by its timestamp if that is earlier.
   */
  readonly lastSeenAt: number
  /** The newest `receivedAt` of everything, imported or not; used by retention. */
  readonly lastReceivedAt: number
  /** The newest `receivedAt` of everything except imported records; 0 if there is nothing else. */
  readonly lastKeyAt: number
  /**
   * The id of the event received then; of several received at the same time, the greatest. '' if no
   * event has a key.
   */
  readonly lastKeyEventId: string
  /** The key that this event was sent with; '' if no event has a key. */
  readonly lastKeyId: string
  /** The newest heartbeat or repeat, per partition; absent if none has counted. */
  readonly heartbeats?: Readonly<Record<number, NewestHeartbeat>>
  /** Battery and attributes from heartbeats and repeats; `telemetryOf` gives the newest. */
  readonly readings?: Readings
  /** Stored records, each counted once. */
  readonly reportCount: number
  readonly lastPosition: LastPosition
  /** The origin of the last position's event; undefined if an earlier version wrote the status. */
  readonly lastOrigin?: Origin | undefined
  /** The last offset folded, per partition; folding an event again changes nothing. */
  readonly applied: Offsets
}

/** Settings by operators; never written by a fold. */
export type DeviceSettings = {
  readonly name?: string
  readonly disabled: boolean
  readonly expectedIntervalSeconds?: number
  /** Sorted, without duplicates; absent if the device has no labels. */
  readonly labels?: readonly string[]
}

/** A device as operators see it. */
export type Device = { readonly status: DeviceStatus; readonly settings: DeviceSettings }

/** Whether the device is alive at `now`. */
export function liveness({ status, settings }: Device, now: number): Liveness {
  const { expectedIntervalSeconds } = settings
  return livenessOf({ lastSeenAt: status.lastSeenAt, expectedIntervalSeconds }, now)
}

/** Whether the device sent this after everything else; at equal times the greatest id decides. */
export function isSentLast(
  receivedAt: number,
  id: string,
  status: Pick<DeviceStatus, 'lastKeyAt' | 'lastKeyEventId'>,
): boolean {
  return receivedAt === status.lastKeyAt
    ? id > status.lastKeyEventId
    : receivedAt > status.lastKeyAt
}

/**
 * Copies the heartbeats and readings of the previous status, after an erasure only the remaining
 * ones, to a status folded from records alone.
 */
export function copyHeartbeats(
  before: DeviceStatus | undefined,
  status: DeviceStatus,
  isErased: (heartbeat: { origin: Origin; receivedAt: number }) => boolean = () => false,
): DeviceStatus {
  const left = Object.entries(before?.heartbeats ?? {}).filter(
    ([partition, { offset, receivedAt }]) =>
      !isErased({ origin: { partition: Number(partition), offset }, receivedAt }),
  )
  const readings = foldReadings(status.lastPosition, before?.readings, isErased)
  if (left.length === 0 && readings === undefined) return status
  return {
    ...left.reduce((after, [, heartbeat]) => updateReceived(after, heartbeat), status),
    ...(left.length > 0 && { heartbeats: Object.fromEntries(left) }),
    ...(readings !== undefined && { readings }),
  }
}

/** The status after a heartbeat, except for `heartbeats` and `readings`. */
export function updateReceived(
  status: DeviceStatus,
  { receivedAt, eventId, keyId }: Pick<NewestHeartbeat, 'receivedAt' | 'eventId' | 'keyId'>,
): DeviceStatus {
  const lastSeenAt = Math.max(status.lastSeenAt, receivedAt)
  const lastReceivedAt = Math.max(status.lastReceivedAt, receivedAt)
  return isSentLast(receivedAt, eventId, status)
    ? {
        ...status,
        lastSeenAt,
        lastReceivedAt,
        lastKeyAt: receivedAt,
        lastKeyEventId: eventId,
        lastKeyId: keyId,
      }
    : { ...status, lastSeenAt, lastReceivedAt }
}

/** A record as the API shows it everywhere: flat, without absent measurements. */
export function recordView({ deviceId, ...position }: LastPosition & { deviceId: string }) {
  const { recordId, ...rest } = positionView(position)
  return { recordId, deviceId, ...rest }
}

/** A record for responses about a single device. */
export function positionView(position: LastPosition) {
  const { recordId, latitude, longitude, timestamp, receivedAt } = position
  const times = { timestamp: isoTime(timestamp), receivedAt: isoTime(receivedAt) }
  return addOptionalFields({ recordId, latitude, longitude, ...times }, position)
}
