import { timeIn } from '../../../ingest-api/apps/times.ts'
import { measure, objectIn, textIn, type Measured } from '../../../ingest-api/apps/values.ts'
import { MEASUREMENTS } from '../../../schemas/report-fields.ts'
import type { Point } from './format.ts'

/** A point from fields named as in our own reports and records; numbers may be texts. */
export function ownPoint(fields: Readonly<Record<string, unknown>>): Point {
  const measured: Measured = {}
  for (const name of MEASUREMENTS) measure(measured, name, fields[name])
  const { latitude, longitude, timestamp: sentTime } = fields
  const deviceId = textIn(fields['deviceId'])
  const attributes = objectIn(fields['attributes']) ?? {}
  return { deviceId, latitude, longitude, time: timeIn(sentTime), sentTime, measured, attributes }
}

/** The value of a JSON text; undefined if it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
