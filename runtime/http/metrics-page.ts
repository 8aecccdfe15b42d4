import { isMainThread } from 'node:worker_threads'
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from 'prom-client'
import { awaitFor } from '../clock.ts'

/** How long one rendering is reused: it takes milliseconds, and `/metrics` is open to everybody. */
const SHARED_MS = 1_000
/** A scrape must not wait longer for a busy thread; Prometheus itself gives up after 10 s. */
const ANSWER_WITHIN_MS = 1_000

/** The output of `render`, refreshed at most once a second, in a buffer shared by all responses. */
export function metricsPage(render: () => Promise<string>): () => Promise<Buffer> {
  let renderedAt = -Infinity
  let page: Promise<Buffer> | undefined

  return function metricsPage() {
    const now = performance.now()
    if (page === undefined || now - renderedAt >= SHARED_MS) {
      renderedAt = now
      page = render().then((text) => Buffer.from(text))
    }
    return page
  }
}

export type MetricsJson = MetricObjectWithValues<MetricValue<string>>[]

/**
 * The metrics of this thread, and of the other thread of the process if there is one. `begin`:
 * called before the first of them are read.
 */
export function threadMetrics(registry: Registry, begin: () => void = () => undefined) {
  let hasBegun = false
  let ofOther: (() => Promise<MetricsJson>) | undefined
  let lastOfOther: MetricsJson = []
  const unanswered = new Counter({
    name: 'gps_metrics_unanswered_total',
    help: 'Times a thread of this process did not report its metrics in time, and its last ones were used',
    registers: [registry],
  })

  function beginOnce(): void {
    if (hasBegun) return
    hasBegun = true
    begin()
  }

  async function json(): Promise<MetricsJson> {
    beginOnce()
    const all = (await registry.getMetricsAsJSON()) as MetricsJson
    // Exported only by the main thread; by default the merged metrics would lack the start time.
    return all.map((one) =>
      one.name.startsWith('process_') ? { ...one, aggregator: 'first' } : one,
    )
  }

  return {
    /** The metrics of this thread, for the other thread. */
    json,

    /**
     * Includes the metrics of `other` in the text from now on. While it does not respond, its last
     * metrics are used again: a missing counter, or one that falls back, would look like a restart.
     */
    join(other: () => Promise<MetricsJson>): void {
      ofOther = async () => {
        try {
          const late = () => new Error('the other thread is busy')
          lastOfOther = await awaitFor(ANSWER_WITHIN_MS, other(), late)
        } catch {
          unanswered.inc()
        }
        return lastOfOther
      }
    },

    async text(): Promise<string> {
      beginOnce()
      if (ofOther === undefined) return registry.metrics()
      const theirs = await ofOther()
      return AggregatorRegistry.aggregate([await json(), theirs]).metrics()
    },
  }
}

/**
 * Collects Node's metrics of this thread, and in the main thread also those of the process. From
 * then on a timer every 10 ms measures the event loop, which is most of the CPU of a process at rest.
 */
export function collectOwnMetrics(registry: Registry): void {
  if (isMainThread) {
    collectDefaultMetrics({ register: registry })
    const { user, system } = process.cpuUsage()
    const used = { user_: user, system_: system, '': user + system }
    for (const [kind, micros] of Object.entries(used)) {
      const counter = registry.getSingleMetric(`process_cpu_${kind}seconds_total`) as Counter
      counter.inc(micros / 1e6)
    }
    return
  }
  collectDefaultMetrics({ register: registry, labels: { thread: 'worker' } })
  for (const { name } of registry.getMetricsAsArray()) {
    if (name.startsWith('process_')) registry.removeSingleMetric(name)
  }
}
