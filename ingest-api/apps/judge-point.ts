import type { Fault } from '../../runtime/errors.ts'
import { fittingAttributes } from '../../schemas/report/attributes.ts'
import { deviceIdFault } from '../../schemas/devices/device-id.ts'
import {
  EARLIEST,
  FURTHEST_AHEAD_MS,
  type WritableReport,
} from '../../schemas/report/plain-report.ts'
import type { PositionReport } from '../../schemas/report/position-report.ts'
import { RANGES, withOptionalFields } from '../../schemas/report/report-fields.ts'
import type { SentPoint } from '../../schemas/formats/sent-point.ts'
import { isSent, numberIn, shownValue } from '../../schemas/formats/values.ts'

/**
 * The report of a point, and how many of its attributes do not fit; or all its faults, worded for the
 * person who set up the app.
 */
export function judgePoint(
  point: SentPoint,
  { deviceId, now }: { deviceId: string; now: number },
): { report: PositionReport; dropped: number } | { faults: readonly Fault[] } {
  const { time, measured } = point
  const latitude = numberIn(point.latitude)
  const longitude = numberIn(point.longitude)
  if (
    isWithin(latitude, RANGES.latitude) &&
    isWithin(longitude, RANGES.longitude) &&
    (time === undefined || (time >= EARLIEST && time <= now + FURTHEST_AHEAD_MS)) &&
    deviceIdFault(deviceId) === undefined
  ) {
    // In the order of `plainReport`: reports of one shape take less time in all that follows.
    const report: WritableReport = {
      deviceId,
      latitude: latitude + 0,
      longitude: longitude + 0,
    }
    if (time !== undefined) report.timestamp = time
    withOptionalFields(report, measured)
    const { attributes, dropped } = fittingAttributes(point.attributes ?? {})
    if (attributes !== undefined) report.attributes = attributes
    return { report, dropped }
  }
  const possible = [
    fault('deviceId', deviceIdFault(deviceId)),
    fault('latitude', coordinateFault('latitude', point.latitude)),
    fault('longitude', coordinateFault('longitude', point.longitude)),
    fault('timestamp', timeFault(point, now)),
  ]
  return { faults: possible.filter((one) => one !== undefined) }
}

function fault(field: string, message: string | undefined): Fault | undefined {
  return message === undefined ? undefined : { field, message }
}

function coordinateFault(name: 'latitude' | 'longitude', sent: unknown): string | undefined {
  if (!isSent(sent)) return `${name} is missing`
  const number = numberIn(sent)
  if (number === undefined) return `${name} ${shownValue(sent)} is not a number`
  const [least, greatest] = RANGES[name]
  if (isWithin(number, RANGES[name])) return undefined
  return `${name} ${shownValue(sent)} is not between ${least} and ${greatest}`
}

function timeFault({ time, sentTime }: SentPoint, now: number): string | undefined {
  if (time === undefined) return undefined
  if (!isSent(sentTime)) return 'timestamp is missing'
  if (Number.isNaN(time)) return `timestamp ${shownValue(sentTime)} is not a time`
  if (time < EARLIEST) return `timestamp ${shownValue(sentTime)} is before 2000`
  if (time <= now + FURTHEST_AHEAD_MS) return undefined
  return `timestamp ${shownValue(sentTime)} is more than 24 hours in the future`
}

function isWithin(
  value: number | undefined,
  [least, greatest]: readonly [number, number],
): value is number {
  return value !== undefined && value >= least && value <= greatest
}
