import { toApiError, type ErrorIdentifier } from '../../runtime/errors.ts'
import type { Metrics } from '../../runtime/process/metrics.ts'
import { REJECTION_ERRORS, type RejectionError } from '../../schemas/events/report-rejected.ts'
import type { Offered, RefusedReport, RejectionQueue } from './rejections.ts'

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

/** A request whose reports are counted, with the key and content known so far. */
export type CountedRequest = {
  readonly app?: string | undefined
  readonly key?: RefusedReport['key'] | undefined
  readonly chunks?: readonly Buffer[]
  isCounted?: boolean
}

/**
 * Counts the outcomes of reports and queues the rejections of known keys.
 */
export class ReportMetrics {
  readonly #metrics: Metrics
  readonly #rejections: Pick<RejectionQueue, 'offer'>

  constructor({
    metrics,
    rejections,
  }: {
    metrics: Metrics
    rejections: Pick<RejectionQueue, 'offer'>
  }) {
    this.#metrics = metrics
    this.#rejections = rejections
    // Prometheus misses the first burst of a counter that starts with it.
    for (const outcome of OUTCOMES) metrics.reports.inc({ outcome }, 0)
  }

  /** Starts an app's series at 0, so that Prometheus sees its first burst. */
  begin(app: string): void {
    for (const outcome of OUTCOMES) this.#metrics.appReports.inc({ app, outcome }, 0)
    this.#metrics.attributesDropped.inc({ app }, 0)
    this.#metrics.positionsWithoutFix.inc({ app }, 0)
  }

  accepted(reports: number, app?: string): void {
    if (reports > 0) this.#count('accepted', { reports, app })
  }

  /** Counts heartbeats. */
  seen(heartbeats: number, app?: string): void {
    if (heartbeats > 0) this.#count('seen', { reports: heartbeats, app })
  }

  /** Counts attributes of apps' reports that were dropped because they do not fit. */
  droppedAttributes(count: number, app: string): void {
    if (count > 0) this.#metrics.attributesDropped.inc({ app }, count)
  }

  /** Counts positions that their devices flagged as having no fix. */
  withoutFix(count: number, app: string): void {
    if (count > 0) this.#metrics.positionsWithoutFix.inc({ app }, count)
  }

  /** Counts a rejected report and queues its rejection. */
  refused(refusal: RefusedReport, app?: string): Offered {
    this.#count(refusal.error, { reports: 1, app })
    return this.#rejections.offer(refusal)
  }

  /** Queues a rejection of a report that is counted under another outcome. */
  alsoRejected(refusal: RefusedReport): Offered {
    return this.#rejections.offer(refusal)
  }

  /** Counts a report that its app will resend; operators need not see it. */
  postponed(error: ErrorIdentifier, app: string): void {
    this.#count(error, { reports: 1, app })
  }

  /**
   * Counts the reports of a request that failed as a whole, unless their outcomes were counted. An
   * app resends reports refused by a limit, so operators need not see these refusals.
   */
  failed(thrown: unknown, request: CountedRequest, reports = 1): void {
    if (request.isCounted === true) return
    request.isCounted = true
    const { error, message } = toApiError(thrown)
    const { app, key, chunks = [] } = request
    this.#count(error, { reports, app })
    if (key === undefined || !isKept(error)) return
    if (app !== undefined && error === 'RATE_LIMITED') return
    this.#rejections.offer({ key, error, message, received: { chunks } })
  }

  #count(
    outcome: 'accepted' | 'seen' | ErrorIdentifier,
    { reports, app }: { reports: number; app: string | undefined },
  ): void {
    this.#metrics.reports.inc({ outcome }, reports)
    if (app !== undefined) this.#metrics.appReports.inc({ app, outcome }, reports)
  }
}

function isKept(error: ErrorIdentifier): error is RejectionError {
  return (REJECTION_ERRORS as readonly string[]).includes(error)
}
