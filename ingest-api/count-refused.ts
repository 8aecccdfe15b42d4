import { unavailable } from '../runtime/errors.ts'
import { refusalLog } from '../runtime/http.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Metrics } from '../runtime/metrics.ts'

const OVERLOADED = unavailable('the service is overloaded')

/** Counts and logs a request that was refused before it reached the app. */
export function countRefused({
  metrics,
  logger,
}: {
  metrics: Metrics
  logger: Logger
}): () => void {
  const note = refusalLog({ logger })
  return function refused() {
    metrics.reports.inc({ outcome: OVERLOADED.error })
    metrics.httpRequests.inc({ service: 'ingest-api', method: 'POST', route: 'none', code: 503 })
    note(OVERLOADED)
  }
}
