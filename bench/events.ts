import type { PositionReported } from '../schemas/events/position-reported.ts'
import { ulid } from '../schemas/events/record-id.ts'
import { MEASURED } from './load/requests.ts'

const BEGIN = Date.UTC(2026, 0, 1)

export type ReportingFleet = {
  readonly devices: number
  /** Between two reports of a device. */
  readonly everyMs?: number
  /** Whether a tenth of the reports are of one device, `long`. */
  readonly hasLong?: boolean
}

/**
 * Event number n of a fleet in which each device reports in turn, by default ten seconds apart: a realistic
 * log, the same in every run.
 */
export function eventOf(
  n: number,
  { devices, everyMs = 10_000, hasLong = false }: ReportingFleet,
): PositionReported {
  const turn = Math.floor(n / devices)
  const device = n % devices
  const timestamp = BEGIN + everyMs * turn + Math.floor((everyMs * device) / devices)
  const random = Buffer.alloc(10)
  random.writeUIntBE(n, 4, 6)
  return {
    recordId: ulid(timestamp, random),
    accountId: 'bench',
    keyId: 'bench',
    deviceId: hasLong && n % 10 === 0 ? 'long' : `bench-${device}`,
    latitude: -80 + ((device * 7 + turn) % 160_000) / 1000,
    longitude: -170 + ((device * 13 + turn) % 340_000) / 1000,
    timestamp,
    timestampSource: 'device',
    receivedAt: timestamp + 150,
    ...MEASURED,
    heading: device % 360,
  }
}
