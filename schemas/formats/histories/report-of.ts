import { keepFittingAttributes } from '../../report/attributes.ts'
import { isoTime } from '../../text/iso-8601.ts'
import { addOptionalFields, type OptionalFields } from '../../report/report-fields.ts'
import { typeAttributes } from '../typed-attributes.ts'
import { parseNumber, quoteValue } from '../values.ts'
import type { FilePoint } from './format.ts'

/**
 * A report not yet validated: a faulty value is replaced with a short text that is equally faulty.
 */
export type UnjudgedReport = Pick<OptionalFields, 'attributes'> & {
  readonly deviceId: string
  readonly latitude: unknown
  readonly longitude: unknown
  readonly timestamp?: string
}

/** The report of a point of a file, and how many of its attributes do not fit. */
export function reportOf(
  { latitude, longitude, time, sentTime, measured, attributes: sent = {} }: FilePoint,
  { deviceId }: { deviceId: string },
): { report: UnjudgedReport; dropped: number } {
  const timestamp = isDate(time) ? isoTime(time) : quoteValue(sentTime)
  const { attributes, dropped } = keepFittingAttributes(sent)
  const report = {
    deviceId: deviceId.slice(0, LONG_ID),
    latitude: parseNumber(latitude) ?? quoteValue(latitude),
    longitude: parseNumber(longitude) ?? quoteValue(longitude),
    ...(timestamp !== undefined && { timestamp }),
  }
  addOptionalFields(report, measured)
  return {
    report: {
      ...report,
      ...(attributes !== undefined && { attributes: typeAttributes(attributes) }),
    },
    dropped,
  }
}

/** Characters; longer than any valid id, and short enough for a request. */
const LONG_ID = 1000

/** The latest time that has a date, in milliseconds. */
const LAST_DATE = 8.64e15

function isDate(time: number | undefined): time is number {
  return time !== undefined && Math.abs(time) <= LAST_DATE
}
