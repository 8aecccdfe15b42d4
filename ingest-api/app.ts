import Router from '@koa/router'
import Koa from 'koa'
import type { EventLog } from '../event-log/event-log.ts'
import { AuthFailures } from '../runtime/auth-failures.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Config } from '../runtime/config/config.ts'
import {
  answerInEnvelope,
  identifyRequest,
  observeRequests,
  reportBrokenOff,
} from '../runtime/http.ts'
import { Load } from '../runtime/load.ts'
import type { HttpApp } from '../runtime/http-server.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { documentRoutes } from '../runtime/openapi/document-routes.ts'
import { serviceRoutes } from '../runtime/service-routes.ts'
import { memoryRateCounters, type OpenRateCounters } from '../runtime/rate-counters.ts'
import type { Keys } from '../store/back-office.ts'
import { acceptReports } from './accept/accept.ts'
import { DeviceLimit } from './accept/device-limit.ts'
import { KeyLimit } from './accept/key-limit.ts'
import type { Rejections } from './accept/rejections.ts'
import { Tally } from './accept/tally.ts'
import { withReportEndpoints } from './endpoints/answer-reports.ts'
import { KeyCache } from './keys/key-cache.ts'
import type { KeyUsage } from './keys/key-usage.ts'
import { ingestDocument } from './openapi.ts'
import { answerApps } from './endpoints/answer-apps.ts'
import { APP_PATHS } from './apps/app-routes.ts'
import { takeApps } from './endpoints/take-app.ts'
import { submitBatch } from './endpoints/batch.ts'
import type { ReportState } from './requests/endpoint.ts'
import { receiveReports } from './endpoints/receive.ts'
import { submitPosition } from './endpoints/submit.ts'

/** The ingest API: a Koa app whose middleware reports bypass. */
export function createIngestApp({
  eventLog,
  keys,
  usage,
  rejections,
  clock,
  steadyClock,
  logger,
  metrics,
  stopping,
  rateLimits,
  openCounters = memoryRateCounters,
  trustProxy,
  load = new Load(),
  metricsElsewhere = false,
}: {
  eventLog: Pick<EventLog, 'append' | 'ready'>
  keys: Pick<Keys, 'findGrant'>
  usage: KeyUsage
  rejections: Pick<Rejections, 'offer'>
  clock: Clock
  /** Measures ages; see runtime/clock.ts. */
  steadyClock: Clock
  logger: Logger
  metrics: Metrics
  stopping: AbortSignal
  /** `key` is the limit of keys without one of their own. */
  rateLimits: Pick<Config['rateLimits'], 'device' | 'key' | 'auth'>
  openCounters?: OpenRateCounters | undefined
  /** The number of proxies to trust for X-Forwarded-For. */
  trustProxy: number
  /** Shared with the server, which refuses requests beyond it. */
  load?: Load
  metricsElsewhere?: boolean
}): HttpApp & Pick<Koa<ReportState>, 'middleware'> {
  const keyCache = new KeyCache({ keys, clock: steadyClock, wallClock: clock, stopping })
  const failures = new AuthFailures({ limit: rateLimits.auth, openCounters })
  const router = new Router<ReportState>({ strict: true })
  serviceRoutes(router, {
    name: 'gps-ingest-api',
    metrics,
    metricsElsewhere,
    ready: () => eventLog.ready(),
    stopping,
  })
  documentRoutes(router, ingestDocument())
  const keyLimit = new KeyLimit({ limit: rateLimits.key, openCounters })
  const deviceLimit = new DeviceLimit({ limit: rateLimits.device, openCounters })
  const tally = new Tally({ metrics, rejections })
  const receiving = { keyCache, failures, usage, keyLimit, tally, load, clock }
  const receive = receiveReports(receiving)
  const accept = acceptReports({ eventLog, keyLimit, deviceLimit, tally, clock })
  const endpoints = {
    '/api/v1/gps/submit': submitPosition({ receive, accept }),
    '/api/v1/gps/batch': submitBatch({ receive, accept }),
  }
  const take = takeApps({ ...receiving, accept })
  const apps = answerApps({ take, load, metrics, logger })
  // Known to the router for its 405: requests with these methods never come so far.
  for (const { path, methods, app } of APP_PATHS) {
    router.register(path, [...methods], apps)
    tally.begin(app.name)
  }

  const app = new Koa<ReportState>({ proxy: trustProxy > 0, maxIpsCount: trustProxy })
  app.use(apps)
  app.use(identifyRequest())
  app.use(observeRequests({ service: 'ingest-api', metrics, logger }))
  app.use(answerInEnvelope({ logger }))
  app.use(router.routes())
  app.on('error', reportBrokenOff({ logger }))
  return withReportEndpoints({ app, router }, endpoints, { metrics, logger, load })
}
