import {
  jsonObject,
  numberField,
  requireOneOf,
  textField,
  timeField,
  ulidField,
  UndecodableEventError,
} from './event-fields.ts'
import { isoTime } from '../text/iso-8601.ts'

/** The error identifiers with which reports of known keys are rejected. */
export const REJECTION_ERRORS = [
  'INVALID_PARAMS',
  'FORBIDDEN',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMITED',
] as const
export type RejectionError = (typeof REJECTION_ERRORS)[number]

/** Maximum size of a stored body, in bytes of UTF-8. */
export const REJECTED_BODY_BYTES = 2048
/** Maximum length of a stored device id, in UTF-16 code units. */
export const REJECTED_DEVICE_ID_UNITS = 128

/**
 * The event in the log of rejections: a report of a known key was rejected. Beyond 20 per second,
 * one event without device and body gives the number of the rest.
 */
export type ReportRejected = {
  /** ULID of the time of the refusal; the same for every repeat of the event. */
  readonly rejectionId: string
  readonly accountId: string
  readonly keyId: string
  /** When the report (of several, the last) was received, in milliseconds. */
  readonly receivedAt: number
  readonly error: RejectionError
  /** The message in the response (of several reports, the last). */
  readonly message: string
  /** The report's device id if it is a text; at most 128 UTF-16 code units. */
  readonly deviceId?: string
  /** The start of the body, at most 2 KiB; absent if the body is not UTF-8. */
  readonly body?: string
  /** The number of rejected reports: 1, unless they were only counted. */
  readonly count: number
}

export const REPORT_REJECTED = 'ReportRejected.v1'

/** How long a rejection is stored, in milliseconds. */
export const REJECTIONS_KEPT_MS = 7 * 24 * 60 * 60 * 1000
/** The number of rejections stored per account. */
export const REJECTIONS_KEPT = 10_000

/**
 * The event as JSON text, times as ISO 8601 UTC with milliseconds.
 * @throws {UndecodableEventError} naming the first invalid field.
 */
export function encodeReportRejected(event: ReportRejected): string {
  const checked = checkReportRejected(event)
  return JSON.stringify({ ...checked, receivedAt: isoTime(checked.receivedAt) })
}

/**
 * Decodes an event from JSON. Unknown fields are ignored.
 * @throws {UndecodableEventError} naming the first fault.
 */
export function decodeReportRejected(json: string): ReportRejected {
  const fields = jsonObject(json)
  return checkReportRejected({
    ...fields,
    receivedAt: timeField(fields['receivedAt'], 'receivedAt'),
  })
}

function checkReportRejected(fields: Record<string, unknown>): ReportRejected {
  const event: ReportRejected = {
    rejectionId: ulidField(fields['rejectionId'], 'rejectionId'),
    accountId: textField(fields['accountId'], 'accountId'),
    keyId: textField(fields['keyId'], 'keyId'),
    receivedAt: numberField(fields['receivedAt'], 'receivedAt'),
    error: requireOneOf(fields['error'], 'error', REJECTION_ERRORS),
    message: textField(fields['message'], 'message'),
    count: count(fields['count']),
  }
  const deviceId = cutText(
    REJECTED_DEVICE_ID_UNITS,
    fields['deviceId'],
    'deviceId',
    (value) => value.length,
  )
  const body = cutText(REJECTED_BODY_BYTES, fields['body'], 'body', (value) =>
    Buffer.byteLength(value),
  )
  return {
    ...event,
    ...(deviceId !== undefined && { deviceId }),
    ...(body !== undefined && { body }),
  }
}

function count(field: unknown): number {
  const value = numberField(field, 'count', 1)
  if (!Number.isSafeInteger(value)) throw new UndecodableEventError('count is not a whole number')
  return value
}

/** A text given by a sender, possibly absent or empty. */
function cutText(
  limit: number,
  value: unknown,
  name: string,
  sizeOf: (value: string) => number,
): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw new UndecodableEventError(`${name} is not a text`)
  if (sizeOf(value) > limit) throw new UndecodableEventError(`${name} is longer than ${limit}`)
  return value
}
