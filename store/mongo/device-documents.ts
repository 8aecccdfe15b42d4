import { READING_KINDS, type Readings } from '../../schemas/devices/device-readings.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { DeviceStatus, Offsets } from '../../schemas/devices/read-models.ts'
import type { DeviceStatusDocument, Erased, ReadingDocuments } from './collections.ts'
import { newestErasure } from './erased.ts'

export type DeviceName = { readonly accountId: string; readonly deviceId: string }

/** A stored device: its status, its erasures, or both. */
export type StoredDevice = DeviceName & {
  /** The last offset processed, of positions and erasures alike, per partition. */
  readonly applied: Offsets
  /** Absent until the device reports again after an erasure. */
  readonly status?: DeviceStatus
  readonly erased?: Erased
  /** A new value with each erasure, until its records are removed. */
  readonly removing?: string
}

export function toStoredDevice(document: DeviceStatusDocument): StoredDevice {
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
  const { firstSeenAt, lastSeenAt, lastReceivedAt, readings } = document
  const { lastKeyAt, lastKeyEventId, lastKeyId } = document
  if (
    lastPosition === undefined ||
    firstSeenAt === undefined ||
    lastSeenAt === undefined ||
    lastReceivedAt === undefined ||
    lastKeyAt === undefined ||
    lastKeyEventId === undefined ||
    lastKeyId === undefined ||
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
    lastKeyAt: lastKeyAt.getTime(),
    lastKeyEventId,
    lastKeyId,
    reportCount,
    lastPosition: {
      ...lastPosition,
      timestamp: lastPosition.timestamp.getTime(),
      receivedAt: lastPosition.receivedAt.getTime(),
    },
    ...(lastOrigin !== undefined && { lastOrigin }),
    ...(heartbeats !== undefined && {
      heartbeats: eachPartition(heartbeats, ({ receivedAt, ...heartbeat }) => ({
        ...heartbeat,
        receivedAt: receivedAt.getTime(),
      })),
    }),
    ...(readings !== undefined && { readings: toReadings(readings) }),
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
  lastKeyAt,
  lastKeyEventId,
  lastKeyId,
  reportCount,
  lastPosition,
  lastOrigin,
  heartbeats,
  readings,
}: DeviceStatus) {
  return {
    firstSeenAt: new Date(firstSeenAt),
    lastSeenAt: new Date(lastSeenAt),
    lastReceivedAt: new Date(lastReceivedAt),
    lastKeyAt: new Date(lastKeyAt),
    lastKeyEventId,
    lastKeyId,
    reportCount,
    lastPosition: {
      ...lastPosition,
      timestamp: new Date(lastPosition.timestamp),
      receivedAt: new Date(lastPosition.receivedAt),
    },
    ...(lastOrigin !== undefined && { lastOrigin }),
    ...(heartbeats !== undefined && {
      heartbeats: eachPartition(heartbeats, ({ receivedAt, ...heartbeat }) => ({
        ...heartbeat,
        receivedAt: new Date(receivedAt),
      })),
    }),
    ...(readings !== undefined && { readings: readingDocuments(readings) }),
  }
}

function toReadings(documents: ReadingDocuments): Readings {
  const kinds = READING_KINDS.flatMap((kind) => {
    const some = documents[kind]
    if (some === undefined) return []
    const readings = eachPartition(some, ({ receivedAt, ...reading }) => ({
      ...reading,
      receivedAt: receivedAt.getTime(),
    }))
    return [[kind, readings] as const]
  })
  return Object.fromEntries(kinds)
}

function readingDocuments(readings: Readings): ReadingDocuments {
  const kinds = READING_KINDS.flatMap((kind) => {
    const some = readings[kind]
    if (some === undefined) return []
    const documents = eachPartition(some, ({ receivedAt, ...reading }) => ({
      ...reading,
      receivedAt: new Date(receivedAt),
    }))
    return [[kind, documents] as const]
  })
  return Object.fromEntries(kinds)
}

function eachPartition<From, To>(
  from: Readonly<Record<number, From>>,
  change: (one: From) => To,
): Record<number, To> {
  return Object.fromEntries(
    Object.entries(from).map(([partition, one]) => [partition, change(one)]),
  )
}
