import type { SentPoint } from './app.ts'
import { timeIn } from './times.ts'
import { isSent } from './values.ts'

/** A point from an app's fields. */
export type GivenPoint = Omit<SentPoint, 'kind' | 'time' | 'sentTime'> & {
  readonly timestamp: unknown
}

/** A point of an app that may omit the time, which is then the time of receipt. */
export function sentPoint(given: GivenPoint): SentPoint {
  const { deviceId, latitude, longitude, timestamp, measured, sent } = given
  return {
    kind: 'point',
    deviceId,
    latitude,
    longitude,
    time: isSent(timestamp) ? timeIn(timestamp) : undefined,
    sentTime: timestamp,
    measured,
    sent,
  }
}
