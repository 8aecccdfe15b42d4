import type { ErrorIdentifier } from '../../runtime/errors.ts'
import { toApiError } from '../../runtime/http.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { REJECTION_ERRORS, type RejectionError } from '../../schemas/report-rejected.ts'
import type { Refusal, Rejections } from './rejections.ts'

/** Every way in which a report, or its request as a whole, can end. */
const OUTCOMES: readonly ('accepted' | ErrorIdentifier)[] = [
  'accepted',
  ...REJECTION_ERRORS,
  'UNAUTHORIZED',
  'UNSUPPORTED_MEDIA_TYPE',
  'SERVER_ERROR',
  'SERVICE_UNAVAILABLE',
]

/**
 * Counts what became of reports, and hands what was refused to a known key to the rejections.
 * The answer does not wait for that.
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
    // From the start: the first burst of an outcome would else look like no increase at all.
    for (const outcome of OUTCOMES) metrics.reports.inc({ outcome }, 0)
  }

  accepted(reports: number): void {
    if (reports > 0) this.#metrics.reports.inc({ outcome: 'accepted' }, reports)
  }

  /** A report that was refused by itself. */
  refused(refusal: Refusal): void {
    this.#metrics.reports.inc({ outcome: refusal.error })
    this.#rejections.offer(refusal)
  }

  /** So many reports whose request failed as a whole; `key` and `received` are what was known of it by then. */
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
