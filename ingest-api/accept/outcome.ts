import type { Fault } from '../../runtime/errors.ts'
import type { RejectionError } from '../../schemas/report-rejected.ts'

/** What became of a report. */
export type Outcome =
  | { readonly kind: 'accepted'; readonly recordId: string; readonly receivedAt: number }
  | ({ readonly kind: 'refused' } & Refused)

export type Refused = {
  readonly error: RejectionError
  readonly message: string
  readonly details?: readonly Fault[]
  /** Whether the same report may be accepted later. */
  readonly retriable: boolean
  /** Not before so many seconds, where that is known. */
  readonly retryAfterSeconds?: number
}
