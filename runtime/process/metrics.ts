import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { FACT_TYPES } from '../../schemas/facts/facts.ts'
import { metricsPage, collectOwnMetrics, threadMetrics } from '../http/metrics-page.ts'

/** How long a scrape waits for a check; a later result appears in the next scrape. */
const WAITED_MS = 250

export type Metrics = ReturnType<typeof createMetrics>

/** Every metric of a process. Names are stable: dashboards and alerts use them. */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  const threads = threadMetrics(registry, () => collectOwnMetrics(registry))
  return {
    registry,
    /** All metrics in the Prometheus text format. */
    page: metricsPage(() => threads.text()),
    threads,
    readiness: readinessGauge(registry),
    buildInfo: new Gauge({
      name: 'gps_build_info',
      help: 'Always 1: the program that runs, its version, and its mode (embedded or distributed)',
      labelNames: ['service', 'version', 'mode'] as const,
      aggregator: 'first',
      registers,
    }),
    httpRequests: new Counter({
      name: 'gps_http_requests_total',
      help: 'HTTP requests answered',
      labelNames: ['service', 'method', 'route', 'code'] as const,
      registers,
    }),
    httpDuration: new Histogram({
      name: 'gps_http_request_duration_seconds',
      help: 'Time from a request’s headers to the end of its response',
      labelNames: ['service', 'route'] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    reports: new Counter({
      name: 'gps_reports_total',
      help: 'Position reports by outcome: accepted, or the error identifier they were rejected with',
      labelNames: ['outcome'] as const,
      registers,
    }),
    appReports: new Counter({
      name: 'gps_app_reports_total',
      help: 'Position reports in the format of an app, by app and outcome',
      labelNames: ['app', 'outcome'] as const,
      registers,
    }),
    attributesDropped: new Counter({
      name: 'gps_attributes_dropped_total',
      help: 'Attributes that apps sent and that do not fit; their reports were accepted without them',
      labelNames: ['app'] as const,
      registers,
    }),
    positionsWithoutFix: new Counter({
      name: 'gps_positions_without_fix_total',
      help: 'Positions from apps that their devices marked as no fix; they were taken as heartbeats',
      labelNames: ['app'] as const,
      registers,
    }),
    rejections: counterOf('outcome', ['kept', 'counted', 'dropped'], {
      name: 'gps_rejections_total',
      help: 'Rejected reports of known keys: kept (stored individually), counted (stored as a count), or dropped',
      registers,
    }),
    projected: counterOf('outcome', PROJECTED, {
      name: 'gps_projected_events_total',
      help: 'Log entries that the projector processed: stored, seen (a heartbeat), repeated, erased, dead_lettered or skipped',
      registers,
    }),
    projectorLagEvents: measureOnScrape({
      name: 'gps_projector_lag_events',
      help: 'Log entries not yet in the read models',
      registers,
    }),
    projectorLagSeconds: measureOnScrape({
      name: 'gps_projector_lag_seconds',
      help: 'Age of the oldest log entry not yet in the read models',
      registers,
    }),
    deadLetters: measureOnScrape({
      name: 'gps_dead_letters',
      help: 'Log entries stored as dead letters because they could not be read',
      registers,
    }),
    facts: counterOf('type', FACT_TYPES, {
      name: 'gps_facts_total',
      help: 'Events decided, by type',
      registers,
    }),
    factsLag: measureOnScrape({
      name: 'gps_facts_lag_seconds',
      help: 'Age of the oldest log entry not yet judged for events',
      registers,
    }),
    factsFailed: new Counter({
      name: 'gps_facts_failed_total',
      help: 'How often a device could not be judged; its skipped reports decide nothing',
      registers,
    }),
    silenceHeld: measureOnScrape({
      name: 'gps_silence_held',
      help: '1 while no device can go offline, because reports could not arrive, or not for long enough yet; else 0',
      registers,
    }),
    deliveries: new Counter({
      name: 'gps_deliveries_total',
      help: 'Requests and mails of notifications by the kind of target: delivered, failed, or refused (the items alone)',
      labelNames: ['kind', 'outcome'] as const,
      registers,
    }),
    deliveryBehind: measureOnScrape({
      name: 'gps_delivery_behind_seconds',
      help: 'Age of the oldest item that any notification has yet to deliver',
      registers,
    }),
    subscriptions: new Gauge({
      name: 'gps_subscriptions',
      help: 'Notifications by state: active, failing, paused (the account is suspended) or disabled',
      labelNames: ['state'] as const,
      registers,
    }),
    logReadersRenewed: new Counter({
      name: 'gps_log_readers_renewed_total',
      help: 'Readers of the log that failed and were replaced by new ones',
      registers,
    }),
    streamReaders: new Gauge({
      name: 'gps_stream_readers',
      help: 'Readers of the live stream that are connected',
      registers,
    }),
    streamEvents: counterOf('event', STREAMED, {
      name: 'gps_stream_events_total',
      help: 'Events written to readers of the live stream, by kind',
      registers,
    }),
    streamUnreadable: new Counter({
      name: 'gps_stream_unreadable_total',
      help: 'Log entries that the live stream skipped because they could not be read',
      registers,
    }),
    streamCutOff: new Counter({
      name: 'gps_stream_cut_off_total',
      help: 'Readers of the live stream that were cut off because they read too slowly',
      registers,
    }),
  }
}

/** `gps_ready`: whether each service of the process can do its work, checked at each scrape. */
export function readinessGauge(registry: Registry) {
  const services = new Map<string, () => Promise<void>>()
  new Gauge({
    name: 'gps_ready',
    help: '1 while the service can do its work, as /readyz reports; else 0',
    labelNames: ['service'] as const,
    registers: [registry],
    async collect() {
      await Promise.all([...services.values()].map((look) => look()))
    },
  })

  return {
    /** @param ready resolves while the service can do its work. */
    watch(service: string, ready: () => Promise<void>): void {
      const gauge = registry.getSingleMetric('gps_ready') as Gauge<'service'>
      let looking: Promise<void> | undefined
      gauge.set({ service }, 0)
      services.set(service, async () => {
        looking ??= ready()
          .then(
            () => gauge.set({ service }, 1),
            () => gauge.set({ service }, 0),
          )
          .finally(() => (looking = undefined))
        await Promise.race([looking, new Promise((resolve) => setTimeout(resolve, WAITED_MS))])
      })
    },
  }
}

const PROJECTED = ['stored', 'seen', 'repeated', 'erased', 'dead_lettered', 'skipped']
const STREAMED = ['position', 'device-status', 'rejection', 'device-erased', 'gap', 'lagging']

/**
 * A counter whose series, one for each value of a label, all start at 0: Prometheus sees no
 * increase in a series that starts with its first burst, and an alert no rate in a missing series.
 */
function counterOf<Label extends string>(
  label: Label,
  values: readonly string[],
  configuration: { name: string; help: string; registers: Registry[] },
): Counter<Label> {
  const counter = new Counter({ ...configuration, labelNames: [label] })
  for (const value of values) counter.labels(value).inc(0)
  return counter
}

/**
 * A gauge without a value until it is set, so that a process that never measures it exports none.
 */
function measureOnScrape(configuration: ConstructorParameters<typeof Gauge>[0]): Gauge {
  const gauge = new Gauge(configuration)
  gauge.remove()
  return gauge
}
