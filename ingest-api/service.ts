import { Gauge, type Registry } from 'prom-client'
import type { EventLog } from '../event-log/event-log.ts'
import { steadyClock, systemClock as clock, type Clock } from '../runtime/clock.ts'
import { basePathOf } from '../runtime/config/console-variables.ts'
import { unavailable, ERRORS, type ErrorIdentifier } from '../runtime/errors.ts'
import { refusalLog } from '../runtime/http/http.ts'
import { serveHttp } from '../runtime/http/http-server.ts'
import type { OpenRateCounters } from '../runtime/limits/rate-counters.ts'
import { InFlight } from '../runtime/http/in-flight.ts'
import type { Logger } from '../runtime/process/logger.ts'
import type { Metrics } from '../runtime/process/metrics.ts'
import type { Program } from '../runtime/process/program.ts'
import type { InstanceReport, SpoolDepth } from '../schemas/instance-report.ts'
import { REPORT_INSTANCE_EVERY_MS, reportInstance } from '../runtime/process/instance.ts'
import type { Instances } from '../store/back-office.ts'
import type { Keys } from '../store/keys.ts'
import type { Devices } from '../store/read-models.ts'
import { createIngestApp } from './app.ts'
import { KeyUsage } from './admission/keys.ts'
import { flushSoon, RejectionQueue } from './accept/rejections.ts'
import { isOfApp } from './apps/app-routes.ts'

const USAGE_FLUSH_MS = 10_000
const REJECTIONS_FLUSH_MS = 250
/** A report that the log refuses ends this. Without reports, each look would be another write to the disk. */
const LOG_TRUSTED_MS = 10 * 60_000
/** The number of new connections accepted in one event-loop turn. */
const LISTENING_HANDLES = 32

/**
 * Starts the ingest API on an open log and store; it runs until the lifecycle closes. Returns its
 * URL.
 */
export async function startIngestApi(
  {
    eventLog,
    spool,
    store,
    openCounters,
    testSecret,
  }: {
    eventLog: Pick<EventLog, 'append' | 'ready'> & {
      rejections: Pick<EventLog['rejections'], 'append'>
    }
    /** This instance's spool, if any. */
    spool?: { depth(): SpoolDepth & { readonly id?: string } } | undefined
    store: Pick<Keys, 'findGrant' | 'touchKeys' | 'countRefusals'> &
      Pick<Devices, 'findDevice'> &
      Pick<Instances, 'saveInstance'>
    /** Without it, rate limits are counted in this process's memory. */
    openCounters?: OpenRateCounters | undefined
    /** Marks the test reports of an admin API in the same process. */
    testSecret?: string
  },
  { config, logger, metrics, lifecycle }: Program,
): Promise<string> {
  const usage = new KeyUsage({ keys: store })
  lifecycle.lastly('last key usage', () => usage.flush())
  lifecycle.every('key usage', USAGE_FLUSH_MS, () => usage.flush())
  const rejections = new RejectionQueue({
    topic: eventLog.rejections,
    clock,
    steadyClock,
    metrics,
    logger,
  })
  lifecycle.lastly('last rejections', () => rejections.close())
  const save = (report: InstanceReport) => store.saveInstance(report)
  const rates = reportRates({ metrics, clock: steadyClock })
  let readySince: number | undefined
  const measure = async () => {
    const isReady = await eventLog.ready({ writtenWithinMs: LOG_TRUSTED_MS }).then(
      () => true,
      () => false,
    )
    readySince = isReady ? (readySince ?? clock.now()) : undefined
    return {
      ...(await rates()),
      ...(readySince !== undefined && { readySince }),
      ...(spool !== undefined && { spool: spool.depth() }),
    }
  }
  if (spool !== undefined) exportSpool(metrics.registry, () => spool.depth())
  lifecycle.every(
    'instance report',
    REPORT_INSTANCE_EVERY_MS,
    reportInstance({ service: 'ingest-api', save, measure, clock }),
  )
  const { stopping } = lifecycle
  const server = await serveHttp({
    app: createIngestApp(
      {
        eventLog,
        keys: store,
        devices: store,
        usage,
        rejections: flushSoon(rejections, { everyMs: REJECTIONS_FLUSH_MS, steadyClock }),
        openCounters,
      },
      {
        rateLimits: config.rateLimits,
        trustProxy: config.trustProxy,
        testSecret,
        basePath: basePathOf(config.ingestPublicUrl),
        metricsElsewhere: config.metricsPort !== undefined,
      },
      { clock, steadyClock, logger, metrics, stopping },
    ),
    host: config.host,
    port: config.ingestPort,
    variable: 'INGEST_PORT',
    graceMs: config.shutdownDeadlineMs / 2,
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
    handles: LISTENING_HANDLES,
    overload: { inFlight: new InFlight(), onRefused: countRefused({ metrics, logger }) },
    comesAgain: isOfApp,
  })
  lifecycle.onClose('ingest API', () => server.close())
  logger.info({ url: server.url }, 'ingest API listening')
  return server.url
}

const OVERLOADED = unavailable('the service is overloaded')

/** Counts and logs a request that was rejected before it reached the app. */
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

/** Exports the contents of the spool, read at each scrape. */
export function exportSpool(registry: Registry, depth: () => SpoolDepth): void {
  function gauge(name: string, help: string, read: (depth: SpoolDepth) => number): void {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read(depth()))
      },
    })
  }

  gauge('gps_spool_events', 'Log entries waiting in the spool', ({ events }) => events)
  gauge('gps_spool_bytes', 'Bytes of log entries waiting in the spool', ({ bytes }) => bytes)
  gauge(
    'gps_spool_oldest_seconds',
    'Age of the oldest log entry in the spool; 0 if it is empty',
    ({ oldestSeconds }) => oldestSeconds,
  )
}

const MINUTE_MS = 60_000

type Sample = { readonly at: number; readonly accepted: number; readonly refused: number }

/**
 * Each call returns the reports accepted and rejected in the last 60 s, or since a more recent
 * start. If the last call was longer ago, the counts since then are scaled to 60 s. Our own errors
 * count as neither.
 */
export function reportRates({ metrics, clock }: { metrics: Metrics; clock: Clock }) {
  let samples: readonly Sample[] = [{ at: clock.now(), accepted: 0, refused: 0 }]

  return async function rates(): Promise<
    Pick<InstanceReport, 'acceptedPerMinute' | 'refusedPerMinute'>
  > {
    const now = await sample(metrics, clock)
    const within = samples.findIndex(({ at }) => now.at - at < MINUTE_MS)
    // Keep one sample that is at least a minute old; older ones are no longer needed.
    const first = within === -1 ? samples.length - 1 : Math.max(0, within - 1)
    samples = [...samples.slice(first), now]
    const since = samples[0] ?? now
    const share = MINUTE_MS / Math.max(MINUTE_MS, now.at - since.at)
    return {
      acceptedPerMinute: Math.round((now.accepted - since.accepted) * share),
      refusedPerMinute: Math.round((now.refused - since.refused) * share),
    }
  }
}

async function sample(metrics: Metrics, clock: Clock): Promise<Sample> {
  let accepted = 0
  let refused = 0
  for (const { labels, value } of (await metrics.reports.get()).values) {
    const outcome = String(labels.outcome)
    if (outcome === 'accepted') accepted += value
    else if (ERRORS[outcome as ErrorIdentifier] < 500) refused += value
  }
  return { at: clock.now(), accepted, refused }
}
