import type { ErrorIdentifier } from '../../runtime/errors.ts'
import { toApiError } from '../../runtime/http.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { REJECTION_ERRORS, type RejectionError } from '../../schemas/report-rejected.ts'
import type { Refusal, Rejections } from './rejections.ts'

/** Every outcome of a report, or of its request as a whole. */
const OUTCOMES: readonly ('accepted' | 'seen' | ErrorIdentifier)[] = [
  'accepted',
  'seen',
  ...REJECTION_ERRORS,
  'UNAUTHORIZED',
  'UNSUPPORTED_MEDIA_TYPE',
  'SERVER_ERROR',
  'SERVICE_UNAVAILABLE',
]

/**
 * Counts the outcomes of reports and queues the rejections of known keys.
 */
export class Tally {
  readonly #metrics: Metrics
  readonly #rejections: Pick<Rejections, 'offer'>

  constructor({
    metrics,
    rejections,
  }: {
    metrics: Metrics
    rejections: Pick<Rejections, 'offer'>
  }) {
    this.#metrics = metrics
    this.#rejections = rejections
    // Prometheus sees no increase in a counter that starts at its first burst.
    for (const outcome of OUTCOMES) metrics.reports.inc({ outcome }, 0)
  }

  accepted(reports: number): void {
    if (reports > 0) this.#metrics.reports.inc({ outcome: 'accepted' }, reports)
  }

  /** Heartbeats. */
  seen(heartbeats: number): void {
    if (heartbeats > 0) this.#metrics.reports.inc({ outcome: 'seen' }, heartbeats)
  }

  /** One refused report. */
  refused(refusal: Refusal): void {
    this.#metrics.reports.inc({ outcome: refusal.error })
    this.#rejections.offer(refusal)
  }

  /** Reports whose request failed as a whole, with the key and content known by then. */
  failed(
    thrown: unknown,
    {
      reports,
      key,
      received = {},
    }: { reports: number } & Partial<Pick<Refusal, 'key' | 'received'>>,
  ): void {
    const { error, message } = toApiError(thrown)
    this.#metrics.reports.inc({ outcome: error }, reports)
    if (key === undefined || !isKept(error)) return
    this.#rejections.offer({ key, error, message, received })
  }
}

function isKept(error: ErrorIdentifier): error is RejectionError {
  return (REJECTION_ERRORS as readonly string[]).includes(error)
}
