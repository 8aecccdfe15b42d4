import { MEASUREMENTS } from '../schemas/position-reported.ts'
import type { LastPosition } from '../schemas/read-models.ts'

/** A time as the API writes it: `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** A record as the API shows it everywhere: flat, measurements that are absent left out. */
export function recordView({ deviceId, ...position }: LastPosition & { deviceId: string }) {
  const { recordId, ...rest } = positionView(position)
  return { recordId, deviceId, ...rest }
}

/** A record where the device is known already. */
export function positionView(position: LastPosition) {
  const { recordId, latitude, longitude, timestamp, receivedAt } = position
  const measured = MEASUREMENTS.filter((name) => position[name] !== undefined)
  return {
    recordId,
    latitude,
    longitude,
    timestamp: isoTime(timestamp),
    receivedAt: isoTime(receivedAt),
    ...Object.fromEntries(measured.map((name) => [name, position[name]])),
  }
}
