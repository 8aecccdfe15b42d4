import type { SentAttributes } from './sent-attributes.ts'
import { parseTime, isSent, type SentMeasurements } from './values.ts'

/** A position sent by an app. Its measurements are in our units and within their ranges. */
export type SentPoint = {
  readonly kind: 'point'
  readonly deviceId: string | undefined
  /** The latitude as sent, for the error message if it is invalid. */
  readonly latitude: unknown
  readonly longitude: unknown
  /** In milliseconds; undefined means the time of receipt, NaN that `sentTime` is not a time. */
  readonly time: number | undefined
  readonly sentTime: unknown
  readonly measured: SentMeasurements
  readonly attributes?: SentAttributes
  /** The JSON for a rejection. */
  readonly sent: unknown
}

/** A point from an app's fields. */
export type PointFields = Omit<SentPoint, 'kind' | 'time' | 'sentTime'> & {
  readonly timestamp: unknown
}

/** A point from an app that may omit the time, which is then the time of receipt. */
export function sentPoint(point: PointFields): SentPoint {
  const { deviceId, latitude, longitude, timestamp, measured, attributes = {}, sent } = point
  return {
    kind: 'point',
    deviceId,
    latitude,
    longitude,
    time: isSent(timestamp) ? parseTime(timestamp) : undefined,
    sentTime: timestamp,
    measured,
    attributes,
    sent,
  }
}
