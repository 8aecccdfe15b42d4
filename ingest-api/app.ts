import Router from '@koa/router'
import Koa from 'koa'
import type { EventLog } from '../event-log/event-log.ts'
import type { Clock } from '../runtime/clock.ts'
import type { RateLimit } from '../runtime/config/config.ts'
import { answerInEnvelope, identifyRequest, observeRequests } from '../runtime/http.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { documentRoutes } from '../runtime/openapi/document-routes.ts'
import { operationsRoutes } from '../runtime/operations-routes.ts'
import type { Keys } from '../store/back-office.ts'
import { authenticate, type IngestState } from './keys/authenticate.ts'
import { Grants } from './keys/grants.ts'
import { keepRejections } from './accept/keep-rejections.ts'
import type { KeyUsage } from './keys/key-usage.ts'
import { ingestDocument } from './openapi.ts'
import { limitKey } from './accept/limit-key.ts'
import type { Rejections } from './accept/rejections.ts'
import { countReports, submitPosition } from './senders/submit.ts'

/** The ingest API as a Koa app, middleware in the order in which a request meets it. */
export function createIngestApp({
  eventLog,
  keys,
  usage,
  rejections,
  clock,
  logger,
  metrics,
  stopping,
  keyLimit,
}: {
  eventLog: Pick<EventLog, 'append' | 'ready'>
  keys: Pick<Keys, 'findGrant'>
  usage: KeyUsage
  rejections: Pick<Rejections, 'offer'>
  clock: Clock
  logger: Logger
  metrics: Metrics
  stopping: AbortSignal
  /** How many positions a key may report that has no limit of its own. */
  keyLimit: RateLimit | 'off'
}): Koa<IngestState> {
  const grants = new Grants({ keys, clock })
  const router = new Router<IngestState>()
  operationsRoutes(router, {
    name: 'gps-ingest-api',
    metrics,
    ready: () => eventLog.ready(),
    stopping,
  })
  documentRoutes(router, ingestDocument())
  router.post(
    '/api/v1/gps/submit',
    countReports({ metrics }),
    keepRejections({ rejections }),
    authenticate({ grants, usage, clock, scope: 'positions:write' }),
    limitKey({ limit: keyLimit }),
    submitPosition({ eventLog, clock }),
  )

  const app = new Koa<IngestState>()
  app.use(identifyRequest())
  app.use(observeRequests({ service: 'ingest-api', metrics, logger }))
  app.use(answerInEnvelope({ logger }))
  app.use(router.routes())
  return app
}
