import { describeFaults } from '../../runtime/errors.ts'
import type { AppendedEvent } from '../../schemas/events/appended-event.ts'
import { typeAttributes } from '../../schemas/formats/typed-attributes.ts'
import { isListed } from '../../schemas/devices/device-id.ts'
import type { DeviceSeen } from '../../schemas/events/device-seen.ts'
import { addMisspelt } from '../../schemas/report/misspelt-fields.ts'
import type { WritableReport } from '../../schemas/report/plain-report.ts'
import {
  deviceIdFaults,
  parsePositionReport,
  type PositionReport,
} from '../../schemas/report/position-report.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import { newUlid, recordIdFor } from '../../schemas/events/record-id.ts'
import { addOptionalFields } from '../../schemas/report/report-fields.ts'
import type { ApiKey, KeyGrant } from '../../store/keys.ts'
import type { Refused, SubmittedHeartbeat, SubmittedReport } from './outcome.ts'

/** The verdict on one report, before its device's limit. */
export type JudgedReport =
  | { readonly kind: 'good'; readonly event: AppendedEvent }
  | { readonly kind: 'refused'; readonly refused: Refused }

/** Checks a report's fields, then whether its key may report for its device. */
export function judgeReport(
  submitted: SubmittedReport,
  grant: KeyGrant,
  receivedAt: number,
): JudgedReport {
  if ('seen' in submitted) {
    const event = judgeHeartbeat(submitted, grant, receivedAt)
    return 'error' in event ? { kind: 'refused', refused: event } : { kind: 'good', event }
  }
  const {
    json,
    idempotencyKey,
    faults: otherFaults = [],
    translated,
    isImported = false,
  } = submitted
  const parsed = translated ?? parsePositionReport(json, { now: receivedAt })
  if ('faults' in parsed || otherFaults.length > 0) {
    const faults = 'faults' in parsed ? [...parsed.faults, ...otherFaults] : otherFaults
    const { message: listed, details } = describeFaults(faults)
    const message = translated === undefined ? addMisspelt(listed, [json]) : listed
    const refused = { error: 'INVALID_PARAMS', message, details, retriable: false } as const
    return { kind: 'refused', refused }
  }
  const { report } = parsed
  const refused = deviceRefusal(grant, report.deviceId)
  if (refused !== undefined) return { kind: 'refused', refused }
  const { key } = grant
  const isIdentifiedByPlace = translated !== undefined || isImported
  const context = { key, idempotencyKey, receivedAt, isIdentifiedByPlace, isImported }
  return { kind: 'good', event: positionReported(report, context) }
}

/** Returns the event of a heartbeat, or its refusal. */
function judgeHeartbeat(
  { seen: deviceId, battery, attributes }: SubmittedHeartbeat,
  grant: KeyGrant,
  receivedAt: number,
): DeviceSeen | Refused {
  const faults = deviceIdFaults(deviceId)
  if (faults.length > 0)
    return { error: 'INVALID_PARAMS', ...describeFaults(faults), retriable: false }
  const { accountId, id: keyId } = grant.key
  return (
    deviceRefusal(grant, deviceId) ?? {
      eventId: newUlid(receivedAt),
      accountId,
      deviceId,
      keyId,
      receivedAt,
      ...(battery !== undefined && { battery }),
      ...(attributes !== undefined && { attributes: typeAttributes(attributes) }),
    }
  )
}

/** The refusal of a key that may not report for a device; undefined if it may. */
function deviceRefusal({ key, disabledDevices }: KeyGrant, deviceId: string): Refused | undefined {
  if (!isListed(key.deviceIds, deviceId)) {
    return forbidden('this API key may not report for this deviceId', { retriable: true })
  }
  if (disabledDevices.has(deviceId))
    return forbidden('this device is disabled', { retriable: false })
  return undefined
}

/** A missing device may still be added to the key's list; a disabled one was disabled on purpose. */
function forbidden(message: string, { retriable }: { retriable: boolean }): Refused {
  return { error: 'FORBIDDEN', message, retriable }
}

function positionReported(
  report: PositionReport,
  {
    key,
    idempotencyKey,
    receivedAt,
    isIdentifiedByPlace,
    isImported,
  }: {
    key: ApiKey
    idempotencyKey: string | undefined
    receivedAt: number
    isIdentifiedByPlace: boolean
    isImported: boolean
  },
): PositionReported {
  const { accountId } = key
  const { deviceId, latitude, longitude, timestamp, attributes } = report
  const event = {
    // Derived from the report as sent: typing its attributes later does not change the id.
    recordId: recordIdFor(isIdentifiedByPlace ? placeOf(report) : report, {
      accountId,
      idempotencyKey,
      receivedAt,
    }),
    accountId,
    keyId: key.id,
    deviceId,
    latitude,
    longitude,
    timestamp: timestamp ?? receivedAt,
    timestampSource: timestamp === undefined ? 'server' : 'device',
    receivedAt,
  } as const
  const reported = addOptionalFields(event, isImported ? { ...report, imported: true } : report)
  if (attributes === undefined) return reported
  const typed = typeAttributes(attributes)
  return typed === attributes ? reported : { ...reported, attributes: typed }
}

/** The fields that identify an app's report. */
function placeOf({
  deviceId,
  latitude,
  longitude,
  timestamp,
  attributes,
}: PositionReport): PositionReport {
  const alarm = attributes?.['alarm']
  const place: WritableReport = { deviceId, latitude, longitude }
  if (timestamp !== undefined) place.timestamp = timestamp
  if (alarm !== undefined) place.attributes = { alarm }
  return place
}
