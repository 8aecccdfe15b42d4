import { ApiError, type Fault } from '../../runtime/errors.ts'
import type { parsePositionReport } from '../../schemas/report/position-report.ts'
import type { Telemetry } from '../../schemas/report/report-fields.ts'
import type { RejectionError } from '../../schemas/events/report-rejected.ts'

/** A report as sent. */
export type SubmittedReport = SubmittedPosition | SubmittedHeartbeat

export type SubmittedPosition = {
  readonly json: unknown
  /** Recorded earlier by another system; its recordId is derived like that of an app's report. */
  readonly isImported?: boolean
  /** The raw body, if it contains only this report. A rejection shows it, or else the JSON. */
  readonly chunks?: readonly Buffer[]
  readonly idempotencyKey?: string | undefined
  /** Faults found outside the JSON, such as in a header. */
  readonly faults?: readonly Fault[]
  /**
   * The report read from `json`, if `json` is in another format. Apps resend a point with another
   * battery level, so its recordId is derived only from device, time, coordinates and `alarm`.
   */
  readonly translated?: ReturnType<typeof parsePositionReport>
  /** The device named by such a report, for a rejection. */
  readonly deviceId?: string | undefined
}

/**
 * A device reported without a position. A request appends one heartbeat of each device and alarm.
 */
export type SubmittedHeartbeat = Telemetry & {
  /** The device id; an invalid one means that the heartbeat is rejected. */
  readonly seen: string
  /** Same as in a submitted position. */
  readonly chunks?: readonly Buffer[]
  /** The content and message of the rejection written if the device has never sent a position. */
  readonly json?: unknown
  readonly lacks?: string
  /** False for a message that an app sends without its tracker. */
  readonly isOfTracker?: false
}

export type PositionOutcome =
  | { readonly kind: 'accepted'; readonly recordId: string; readonly receivedAt: number }
  | ({ readonly kind: 'refused' } & Refused)

/** `seen`: a heartbeat; it is durable. */
export type Outcome = PositionOutcome | { readonly kind: 'seen' }

export type Refused = {
  readonly error: RejectionError
  readonly message: string
  readonly details?: readonly Fault[]
  /** Whether the same report may be accepted later. */
  readonly retriable: boolean
  /** The time at which to retry, if known. */
  readonly retryAfterSeconds?: number
}

/** The error of a request whose report was rejected. */
export function refusalOf({ error, message, details, retryAfterSeconds }: Refused): ApiError {
  return new ApiError(error, message, {
    ...(details !== undefined && { details }),
    ...(retryAfterSeconds !== undefined && {
      headers: { 'Retry-After': String(retryAfterSeconds) },
    }),
  })
}
