import { deviceKey } from '../../schemas/position-reported.ts'
import type { DeviceStatus, Offsets } from '../../schemas/read-models.ts'
import type { DeviceStatusDocument, Erased } from './collections.ts'
import { newestErasure } from './erased.ts'

export type DeviceName = { readonly accountId: string; readonly deviceId: string }

/** A device as it is stored: its status, its erasures, or both. */
export type StoredDevice = DeviceName & {
  /** The last offset processed, of positions and erasures alike, per partition. */
  readonly applied: Offsets
  /** Absent until the device reports again after an erasure. */
  readonly status?: DeviceStatus
  readonly erased?: Erased
  /** A new value with each erasure, until its records are removed. */
  readonly removing?: string
}

export function storedDevice(document: DeviceStatusDocument): StoredDevice {
  const { accountId, deviceId, applied, erased, removing } = document
  const status = deviceStatusOf(document)
  return {
    accountId,
    deviceId,
    applied,
    ...(status !== undefined && { status }),
    ...(erased !== undefined && { erased }),
    ...(removing !== undefined && { removing }),
  }
}

/** Undefined if only the device's erasures are left. */
export function deviceStatusOf(document: DeviceStatusDocument): DeviceStatus | undefined {
  const { accountId, deviceId, applied, reportCount, lastPosition, lastOrigin, heartbeats } =
    document
  const { firstSeenAt, lastSeenAt } = document
  // Version 0.2.0 wrote no keys, and no time of receipt, which was that of the last sighting.
  const { lastReceivedAt = lastSeenAt, lastKeyId = '' } = document
  const { lastReceivedId = lastPosition?.recordId ?? '' } = document
  if (
    lastPosition === undefined ||
    firstSeenAt === undefined ||
    lastSeenAt === undefined ||
    lastReceivedAt === undefined ||
    reportCount === undefined
  ) {
    return undefined
  }
  return {
    accountId,
    deviceId,
    firstSeenAt: firstSeenAt.getTime(),
    lastSeenAt: lastSeenAt.getTime(),
    lastReceivedAt: lastReceivedAt.getTime(),
    lastReceivedId,
    lastKeyId,
    reportCount,
    lastPosition: {
      ...lastPosition,
      timestamp: lastPosition.timestamp.getTime(),
      receivedAt: lastPosition.receivedAt.getTime(),
    },
    ...(lastOrigin !== undefined && { lastOrigin }),
    ...(heartbeats !== undefined && {
      heartbeats: eachHeartbeat(heartbeats, ({ receivedAt, eventId = '', keyId = '', offset }) => ({
        ...{ offset, receivedAt: receivedAt.getTime(), eventId, keyId },
      })),
    }),
    applied,
  }
}

export function deviceDocument({
  accountId,
  deviceId,
  applied,
  status,
  erased,
  removing,
}: StoredDevice): DeviceStatusDocument {
  return {
    _id: deviceKey({ accountId, deviceId }),
    accountId,
    deviceId,
    ...(status !== undefined && reported(status)),
    applied,
    ...(erased !== undefined && { erased, erasedAt: newestErasure(erased) }),
    ...(removing !== undefined && { removing }),
  }
}

function reported({
  firstSeenAt,
  lastSeenAt,
  lastReceivedAt,
  lastReceivedId,
  lastKeyId,
  reportCount,
  lastPosition,
  lastOrigin,
  heartbeats,
}: DeviceStatus) {
  return {
    firstSeenAt: new Date(firstSeenAt),
    lastSeenAt: new Date(lastSeenAt),
    lastReceivedAt: new Date(lastReceivedAt),
    lastReceivedId,
    lastKeyId,
    reportCount,
    lastPosition: {
      ...lastPosition,
      timestamp: new Date(lastPosition.timestamp),
      receivedAt: new Date(lastPosition.receivedAt),
    },
    ...(lastOrigin !== undefined && { lastOrigin }),
    ...(heartbeats !== undefined && {
      heartbeats: eachHeartbeat(heartbeats, ({ receivedAt, ...heartbeat }) => ({
        ...heartbeat,
        receivedAt: new Date(receivedAt),
      })),
    }),
  }
}

function eachHeartbeat<From, To>(
  heartbeats: Readonly<Record<number, From>>,
  change: (heartbeat: From) => To,
): Record<number, To> {
  return Object.fromEntries(
    Object.entries(heartbeats).map(([partition, heartbeat]) => [partition, change(heartbeat)]),
  )
}
