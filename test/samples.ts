import type { PositionReported } from '../schemas/position-reported.ts'

/** Where the samples' time begins: 2026-01-01T00:00:00Z. */
export const T0 = Date.UTC(2026, 0, 1)

let made = 0

/** A valid event; each call has a recordId of its own unless one is given. */
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
