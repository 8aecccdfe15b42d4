import Router from '@koa/router'
import Koa from 'koa'
import type { EventLog } from '../event-log/event-log.ts'
import { AuthFailures, GoodSecrets } from '../runtime/limits/auth-failures.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Config } from '../runtime/config/config.ts'
import {
  answerInEnvelope,
  identifyRequest,
  nothingAtPath,
  observeRequests,
  reportBrokenOff,
  type HttpState,
} from '../runtime/http/http.ts'
import type { HttpApp } from '../runtime/http/http-server.ts'
import type { Logger } from '../runtime/process/logger.ts'
import type { Metrics } from '../runtime/process/metrics.ts'
import { documentRoutes } from '../runtime/openapi/document-routes.ts'
import { serviceRoutes } from '../runtime/http/service-routes.ts'
import { memoryRateCounters, type OpenRateCounters } from '../runtime/limits/rate-counters.ts'
import type { Keys } from '../store/keys.ts'
import type { Devices } from '../store/read-models.ts'
import { acceptReports } from './accept/accept.ts'
import { DeviceLimit, KeyLimit } from './accept/limits.ts'
import type { RejectionQueue } from './accept/rejections.ts'
import { ReportMetrics } from './accept/report-metrics.ts'
import { APP_PATHS } from './apps/app-routes.ts'
import { admitSenders } from './admission/admission.ts'
import { KeyCache, type KeyUsage } from './admission/keys.ts'
import { LARGE_BODY_BYTES, WorkTurns } from './admission/work-turns.ts'
import { answerSenders } from './endpoints/answer-senders.ts'
import { appEndpoints } from './endpoints/app-endpoint.ts'
import { BATCH_CALL, IMPORT_CALL, nativeEndpoint, SUBMIT_CALL } from './endpoints/native.ts'
import { knownDevices, unplacedDevices } from './apps/unplaced-devices.ts'
import { RecentPositions } from './accept/recent-positions.ts'
import { ingestDocument } from './openapi.ts'

/** Maximum number of imports processed at the same time; further ones wait. */
const IMPORTS_AT_ONCE = 2
/** Maximum number of other requests with large bodies processed at the same time. */
const LARGE_AT_ONCE = 4

export type IngestPorts = {
  readonly eventLog: Pick<EventLog, 'append' | 'ready'>
  readonly keys: Pick<Keys, 'findGrant'>
  readonly devices: Pick<Devices, 'findDevice'>
  readonly usage: KeyUsage
  readonly rejections: Pick<RejectionQueue, 'offer'>
  readonly openCounters?: OpenRateCounters | undefined
}

export type IngestSettings = {
  /** `key` is the limit of keys without their own limit. */
  readonly rateLimits: Pick<Config['rateLimits'], 'device' | 'key' | 'import' | 'auth'>
  /** The number of proxies to trust for X-Forwarded-For. */
  readonly trustProxy: number
  /** Marks this process's own test reports. */
  readonly testSecret?: string | undefined
  /** The path under which senders reach the API, with a slash at both ends; by default the root. */
  readonly basePath?: string | undefined
  readonly metricsElsewhere?: boolean
}

export type IngestProcess = {
  readonly clock: Clock
  /** Measures ages; see runtime/clock.ts. */
  readonly steadyClock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly stopping: AbortSignal
}

/** The ingest API: endpoints for senders, and a Koa app for all other requests. */
export function createIngestApp(
  { eventLog, keys, devices, usage, rejections, openCounters = memoryRateCounters }: IngestPorts,
  { rateLimits, trustProxy, testSecret, basePath, metricsElsewhere = false }: IngestSettings,
  { clock, steadyClock, logger, metrics, stopping }: IngestProcess,
): HttpApp & Pick<Koa<HttpState>, 'middleware'> {
  const good = new GoodSecrets({ clock: steadyClock })
  const keyCache = new KeyCache({ keys, good, clock: steadyClock, wallClock: clock, stopping })
  const failures = new AuthFailures({ limit: rateLimits.auth, openCounters, good })
  const router = new Router<HttpState>({ strict: true, sensitive: true })
  serviceRoutes(router, {
    name: 'gps-ingest-api',
    metrics,
    metricsElsewhere,
    ready: () => eventLog.ready(),
    stopping,
  })
  documentRoutes(router, ingestDocument, { basePath })
  const keyLimit = new KeyLimit({ limit: rateLimits.key, openCounters })
  const deviceLimit = new DeviceLimit({ limit: rateLimits.device, openCounters })
  const reportMetrics = new ReportMetrics({ metrics, rejections })
  const admit = admitSenders({ keyCache, failures, usage, clock, trustProxy, testSecret })
  const positions = new RecentPositions({ clock: steadyClock })
  const accepting = { eventLog, metrics: reportMetrics, positions, clock }
  const turns = new WorkTurns({ atOnce: LARGE_AT_ONCE, fromBytes: LARGE_BODY_BYTES })
  const reporting = {
    admit,
    keyLimit,
    turns,
    accept: acceptReports({ ...accepting, keyLimit, deviceLimit }),
  }
  const endpoints = [
    nativeEndpoint(SUBMIT_CALL, reporting),
    nativeEndpoint(BATCH_CALL, reporting),
    nativeEndpoint(IMPORT_CALL, importing()),
  ]
  const rejectUnplaced = unplacedDevices({
    isKnown: knownDevices({ devices }),
    positions,
    metrics: reportMetrics,
    clock: steadyClock,
  })
  const appEndpoint = appEndpoints({ ...reporting, metrics: reportMetrics, clock, rejectUnplaced })
  // Registered so that other methods get a 405. A POST arrives here only if the router reads an
  // unusual target as this path.
  for (const { path } of endpoints) router.post(path, notFound)
  for (const { path, methods, app } of APP_PATHS) {
    router.register(path, [...methods], notFound)
    reportMetrics.begin(app.name)
  }

  const app = new Koa<HttpState>({ proxy: trustProxy > 0, maxIpsCount: trustProxy })
  app.use(identifyRequest())
  app.use(observeRequests({ service: 'ingest-api', metrics, logger }))
  app.use(answerInEnvelope({ logger }))
  app.use(router.routes())
  app.on('error', reportBrokenOff({ logger }))
  const answering = answerSenders(app, { endpoints, appEndpoint, reportMetrics, metrics, logger })
  return { ...answering, middleware: app.middleware }

  /** Imports have a separate limit, and no limit per device. */
  function importing() {
    const limit = rateLimits.import
    const keyLimit = new KeyLimit({ bucket: 'import', limit, openCounters })
    const deviceLimit = new DeviceLimit({ limit: 'off', openCounters })
    const turns = new WorkTurns({ atOnce: IMPORTS_AT_ONCE })
    const accept = acceptReports({ ...accepting, keyLimit, deviceLimit })
    return { admit, keyLimit, turns, accept }
  }
}

function notFound(): never {
  throw nothingAtPath()
}
