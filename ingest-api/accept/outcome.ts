import { ApiError, type Fault } from '../../runtime/errors.ts'
import type { RejectionError } from '../../schemas/report-rejected.ts'

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
  /** The time to wait before a retry, if known. */
  readonly retryAfterSeconds?: number
}

/** The error of a request whose report was refused. */
export function refusalOf({ error, message, details, retryAfterSeconds }: Refused): ApiError {
  return new ApiError(error, message, {
    ...(details !== undefined && { details }),
    ...(retryAfterSeconds !== undefined && {
      headers: { 'Retry-After': String(retryAfterSeconds) },
    }),
  })
}
