import {
  jsonObject,
  number,
  oneOf,
  text,
  time,
  ulid,
  UndecodableEventError,
} from './event-fields.ts'

/** Why a report of a known key can be refused: the error identifiers of the ingest API that count. */
export const REJECTION_ERRORS = [
  'INVALID_PARAMS',
  'FORBIDDEN',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMITED',
] as const
export type RejectionError = (typeof REJECTION_ERRORS)[number]

/** No more of a refused body is kept, in bytes of UTF-8. */
export const REJECTED_BODY_BYTES = 2048
/** No more of the device's id is kept, in UTF-16 code units. */
export const REJECTED_DEVICE_ID_UNITS = 128

/**
 * The event in the log of rejections: a report of a known key was refused. Of more than 20 in a
 * second only their number is told, as one event without device and body.
 */
export type ReportRejected = {
  /** ULID of the moment; the same for every repeat of the event. */
  readonly rejectionId: string
  readonly accountId: string
  readonly keyId: string
  /** When the report was received (the last of them, where several are counted), in milliseconds. */
  readonly receivedAt: number
  readonly error: RejectionError
  /** What the sender was told (of several that are counted, the last). */
  readonly message: string
  /** As the report gave it, where it gave a text; at most 128 UTF-16 code units. */
  readonly deviceId?: string
  /** The beginning of the body as text, at most 2 KiB; what is not UTF-8 shows as U+FFFD. */
  readonly body?: string
  /** How many refused reports this tells of: 1, unless they were only counted. */
  readonly count: number
}

export const REPORT_REJECTED = 'ReportRejected.v1'

/** How long a rejection is kept, in milliseconds. */
export const REJECTIONS_KEPT_MS = 7 * 24 * 60 * 60 * 1000
/** How many of an account are kept. */
export const REJECTIONS_KEPT = 10_000

/**
 * The event as JSON text, times as ISO 8601 UTC with milliseconds.
 * @throws {UndecodableEventError} naming the first field that no reader could take.
 */
export function encodeReportRejected(event: ReportRejected): string {
  const checked = checkReportRejected(event)
  return JSON.stringify({ ...checked, receivedAt: new Date(checked.receivedAt).toISOString() })
}

/**
 * Reads an event back from its JSON text. Fields it does not know are left out.
 * @throws {UndecodableEventError} naming the first thing that is not a `ReportRejected`.
 */
export function decodeReportRejected(json: string): ReportRejected {
  const fields = jsonObject(json)
  return checkReportRejected({ ...fields, receivedAt: time(fields, 'receivedAt') })
}

function checkReportRejected(fields: Record<string, unknown>): ReportRejected {
  const event: ReportRejected = {
    rejectionId: ulid(fields, 'rejectionId'),
    accountId: text(fields, 'accountId'),
    keyId: text(fields, 'keyId'),
    receivedAt: number(fields, 'receivedAt'),
    error: oneOf(fields, 'error', REJECTION_ERRORS),
    message: text(fields, 'message'),
    count: count(fields),
  }
  const deviceId = upTo(REJECTED_DEVICE_ID_UNITS, fields, 'deviceId', (value) => value.length)
  const body = upTo(REJECTED_BODY_BYTES, fields, 'body', (value) => Buffer.byteLength(value))
  return {
    ...event,
    ...(deviceId !== undefined && { deviceId }),
    ...(body !== undefined && { body }),
  }
}

function count(fields: Record<string, unknown>): number {
  const value = number(fields, 'count', 1)
  if (!Number.isSafeInteger(value)) throw new UndecodableEventError('count is not a whole number')
  return value
}

/** A text that may be absent, and may be empty: it is what a sender gave. */
function upTo(
  limit: number,
  fields: Record<string, unknown>,
  name: string,
  sizeOf: (value: string) => number,
): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw new UndecodableEventError(`${name} is not a text`)
  if (sizeOf(value) > limit) throw new UndecodableEventError(`${name} is longer than ${limit}`)
  return value
}
