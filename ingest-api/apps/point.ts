import type { SentPoint } from './app.ts'
import { timeIn } from './times.ts'
import { isSent } from './values.ts'

/** A point from an app's fields. */
export type PointFields = Omit<SentPoint, 'kind' | 'time' | 'sentTime'> & {
  readonly timestamp: unknown
}

/** A point of an app that may omit the time, which is then the time of receipt. */
export function sentPoint(point: PointFields): SentPoint {
  const { deviceId, latitude, longitude, timestamp, measured, attributes = {}, sent } = point
  return {
    kind: 'point',
    deviceId,
    latitude,
    longitude,
    time: isSent(timestamp) ? timeIn(timestamp) : undefined,
    sentTime: timestamp,
    measured,
    attributes,
    sent,
  }
}
