import { mapInTurns } from '../../runtime/end-of-turn.ts'
import type { Fault } from '../../runtime/errors.ts'
import { keepFittingAttributes } from '../../schemas/report/attributes.ts'
import { isListed, deviceIdFault } from '../../schemas/devices/device-id.ts'
import type { ApiKey } from '../../store/keys.ts'
import type { SubmittedPosition, SubmittedReport } from '../accept/outcome.ts'
import type { AppItem } from '../../schemas/formats/senders/app-request.ts'
import { isZeroWithoutSatellites } from '../../schemas/formats/no-fix.ts'
import type { SentAttributes } from '../../schemas/formats/sent-attributes.ts'
import type { SentPoint } from '../../schemas/formats/sent-point.ts'
import {
  INEXACT_ID,
  INEXACT_ID_FAULT,
  isSent,
  parseNumber,
  quoteValue,
} from '../../schemas/formats/values.ts'
import {
  EARLIEST,
  FURTHEST_AHEAD_MS,
  type WritableReport,
} from '../../schemas/report/plain-report.ts'
import type { PositionReport } from '../../schemas/report/position-report.ts'
import { RANGES, addOptionalFields } from '../../schemas/report/report-fields.ts'

const LARGE_BYTES = 16 * 1024

const NO_DEVICE: Fault = {
  field: 'deviceId',
  message: 'the message has neither a device nor a position, and the key is for several devices',
}

/** The reports of a request, and counts of its other contents. */
export type Submitted = {
  readonly reports: readonly SubmittedReport[]
  readonly droppedAttributes: number
  /** Positions that their devices flagged as having no fix; treated as heartbeats. */
  readonly withoutFix: number
}

/**
 * Converts the items of an app's request to reports with our fields, adding the request's device to
 * items without one. Also counts the attributes that do not fit.
 */
export async function toReports(
  items: readonly AppItem[],
  {
    key,
    now,
    chunks,
  }: {
    key: ApiKey
    now: number
    chunks: readonly Buffer[]
  },
): Promise<Submitted> {
  let droppedAttributes = 0
  let withoutFix = 0
  const fallback = fallbackDeviceId(key)
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  // A rejection shows only the start, and serialising the whole body again can take a second.
  const whole = items.length === 1 && length > LARGE_BYTES ? { chunks } : {}

  function reportOf(item: AppItem): SubmittedReport {
    const deviceId = item.deviceId ?? fallback
    // The parsed number has lost digits, so a rejection shows the original bytes.
    if (deviceId.includes(INEXACT_ID)) return toRefusal(item, INEXACT, items.length === 1)
    switch (item.kind) {
      case 'point': {
        if (isZeroWithoutSatellites(item, item.attributes)) {
          const { measured, attributes } = item
          return heartbeat(deviceId, { battery: measured.battery, attributes, isWithoutFix: true })
        }
        const translated = judgePoint(item, { deviceId, now })
        if ('report' in translated) droppedAttributes += translated.dropped
        return { ...whole, json: item.sent, deviceId, translated }
      }
      case 'seen':
        // Otherwise an app without a device name would resend it forever, and all its later points
        // would wait behind it.
        if (item.deviceId === undefined && !isListed(key.deviceIds, fallback)) {
          return toRefusal(item, NO_DEVICE, items.length === 1)
        }
        return heartbeat(deviceId, item)
      case 'malformed': {
        const { message, deviceId } = item
        const isUnread = item.sent === undefined
        return { ...toRefusal(item, { field: 'body', message }, isUnread), deviceId, ...whole }
      }
    }
  }

  function heartbeat(
    deviceId: string,
    { battery, attributes: sent = {}, isWithoutFix = false, isOfTracker, ifUnknown }: Telemetry,
  ): SubmittedReport {
    const { attributes, dropped } = keepFittingAttributes(sent)
    droppedAttributes += dropped
    if (isWithoutFix) withoutFix += 1
    return {
      ...whole,
      seen: deviceId,
      ...(isOfTracker !== undefined && { isOfTracker }),
      ...(ifUnknown !== undefined && { lacks: ifUnknown.message, json: ifUnknown.sent }),
      ...(battery !== undefined && { battery }),
      ...(attributes !== undefined && { attributes }),
    }
  }

  /** @param isWhole whether a rejection shows the bytes of the request. */
  function toRefusal(item: AppItem, fault: Fault, isWhole: boolean): SubmittedPosition {
    const json = 'sent' in item ? item.sent : undefined
    return { json, ...(isWhole && { chunks }), translated: { faults: [fault] } }
  }

  const reports = await mapInTurns(items, reportOf)
  return { reports, droppedAttributes, withoutFix }
}

const INEXACT: Fault = { field: 'deviceId', message: INEXACT_ID_FAULT }

type Telemetry = {
  readonly battery?: number | undefined
  readonly attributes?: SentAttributes | undefined
  readonly isWithoutFix?: boolean
  readonly isOfTracker?: false
  readonly ifUnknown?: { readonly message: string; readonly sent: unknown }
}

/** The only device in the key's list, or else a device named after the key. */
function fallbackDeviceId({ id, deviceIds = [] }: ApiKey): string {
  const [first, ...more] = deviceIds.filter((listed) => !listed.endsWith('*'))
  return first === undefined || more.length > 0 ? id : first
}

/**
 * The report of a point, and how many of its attributes do not fit; or all its faults, worded for
 * the person who set up the app.
 */
export function judgePoint(
  point: SentPoint,
  { deviceId, now }: { deviceId: string; now: number },
): { report: PositionReport; dropped: number } | { faults: readonly Fault[] } {
  const { time, measured } = point
  const latitude = parseNumber(point.latitude)
  const longitude = parseNumber(point.longitude)
  if (
    isWithin(latitude, RANGES.latitude) &&
    isWithin(longitude, RANGES.longitude) &&
    (time === undefined || (time >= EARLIEST && time <= now + FURTHEST_AHEAD_MS)) &&
    deviceIdFault(deviceId) === undefined
  ) {
    // In the order of `plainReport`: later steps are faster if all reports have the same shape.
    const report: WritableReport = {
      deviceId,
      latitude: latitude + 0,
      longitude: longitude + 0,
    }
    if (time !== undefined) report.timestamp = time
    addOptionalFields(report, measured)
    const { attributes, dropped } = keepFittingAttributes(point.attributes ?? {})
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
  const number = parseNumber(sent)
  if (number === undefined) return `${name} ${quoteValue(sent)} is not a number`
  const [least, greatest] = RANGES[name]
  if (isWithin(number, RANGES[name])) return undefined
  return `${name} ${quoteValue(sent)} is not between ${least} and ${greatest}`
}

function timeFault({ time, sentTime }: SentPoint, now: number): string | undefined {
  if (time === undefined) return undefined
  if (!isSent(sentTime)) return 'timestamp is missing'
  if (Number.isNaN(time)) return `timestamp ${quoteValue(sentTime)} is not a time`
  if (time < EARLIEST) return `timestamp ${quoteValue(sentTime)} is before 2000`
  if (time <= now + FURTHEST_AHEAD_MS) return undefined
  return `timestamp ${quoteValue(sentTime)} is more than 24 hours in the future`
}

function isWithin(
  value: number | undefined,
  [least, greatest]: readonly [number, number],
): value is number {
  return value !== undefined && value >= least && value <= greatest
}
