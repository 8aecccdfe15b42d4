import type { DeviceErased } from '../schemas/events/device-erased.ts'
import type { DeviceSeen } from '../schemas/events/device-seen.ts'
import type { PositionReported } from '../schemas/events/position-reported.ts'
import type { ReportRejected } from '../schemas/events/report-rejected.ts'

/** The samples' start time: 2026-01-01T00:00:00Z. */
export const T0 = Date.UTC(2026, 0, 1)

let made = 0

/** A valid event; each call has a new recordId unless one is given. */
export function positionReported(changes: Partial<PositionReported> = {}): PositionReported {
  made += 1
  return {
    recordId: `01KDVN9C00${String(made).padStart(16, '0')}`,
    accountId: 'acc-1',
    keyId: 'key-1',
    deviceId: 'tracker-1',
    latitude: 45.273518851,
    longitude: 13.7142099626,
    timestamp: T0 + made * 1000,
    timestampSource: 'device',
    receivedAt: T0 + made * 1000 + 250,
    ...changes,
  }
}

/** A valid event; each call has a new eventId unless one is given. */
export function deviceSeen(changes: Partial<DeviceSeen> = {}): DeviceSeen {
  made += 1
  return {
    eventId: `01KDVN9C03${String(made).padStart(16, '0')}`,
    accountId: 'acc-1',
    deviceId: 'tracker-1',
    keyId: 'key-1',
    receivedAt: T0 + made * 1000 + 250,
    ...changes,
  }
}

/** A valid event; each call has a new eventId unless one is given. */
export function deviceErased(changes: Partial<DeviceErased> = {}): DeviceErased {
  made += 1
  return {
    eventId: `01KDVN9C01${String(made).padStart(16, '0')}`,
    accountId: 'acc-1',
    deviceId: 'tracker-1',
    erasedAt: T0 + made * 1000,
    ...changes,
  }
}

/** A valid event; each call has a new rejectionId unless one is given. */
export function reportRejected(changes: Partial<ReportRejected> = {}): ReportRejected {
  made += 1
  return {
    rejectionId: `01KDVN9C02${String(made).padStart(16, '0')}`,
    accountId: 'acc-1',
    keyId: 'key-1',
    receivedAt: T0 + made * 1000,
    error: 'INVALID_PARAMS',
    message: 'latitude must be a number from -90 to 90',
    count: 1,
    ...changes,
  }
}
