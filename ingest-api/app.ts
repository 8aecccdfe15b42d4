import Router from '@koa/router'
import Koa from 'koa'
import type { EventLog } from '../event-log/event-log.ts'
import type { Clock } from '../runtime/clock.ts'
import { answerInEnvelope, identifyRequest, observeRequests } from '../runtime/http.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { operationsRoutes } from '../runtime/operations-routes.ts'
import type { Keys } from '../store/store.ts'
import { authenticate, type IngestState } from './authenticate.ts'
import { Grants } from './grants.ts'
import type { KeyUsage } from './key-usage.ts'
import { countReports, submitPosition } from './submit.ts'

/** The ingest API as a Koa app, middleware in the order in which a request meets it. */
export function createIngestApp({
  eventLog,
  keys,
  usage,
  clock,
  logger,
  metrics,
  stopping,
}: {
  eventLog: Pick<EventLog, 'append' | 'ready'>
  keys: Pick<Keys, 'findGrant'>
  usage: KeyUsage
  clock: Clock
  logger: Logger
  metrics: Metrics
  stopping: AbortSignal
}): Koa<IngestState> {
  const grants = new Grants({ keys, clock })
  const router = new Router<IngestState>()
  operationsRoutes(router, {
    name: 'gps-ingest-api',
    metrics,
    ready: () => eventLog.ready(),
    stopping,
  })
  router.post(
    '/api/v1/gps/submit',
    countReports({ metrics }),
    authenticate({ grants, usage, clock, scope: 'positions:write' }),
    submitPosition({ eventLog, clock }),
  )

  const app = new Koa<IngestState>()
  app.use(identifyRequest())
  app.use(observeRequests({ service: 'ingest-api', metrics, logger }))
  app.use(answerInEnvelope({ logger }))
  app.use(router.routes())
  return app
}
