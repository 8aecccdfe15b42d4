import { isMainThread } from 'node:worker_threads'
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from 'prom-client'

export type MetricsJson = MetricObjectWithValues<MetricValue<string>>[]

/** The metrics of this thread, and of the process' other thread where there is one. */
export function threadMetrics(registry: Registry) {
  let ofOther: (() => Promise<MetricsJson>) | undefined

  async function json(): Promise<MetricsJson> {
    const all = (await registry.getMetricsAsJSON()) as MetricsJson
    // Only one thread tells of the process, and nothing of it is left out when they are merged.
    return all.map((one) =>
      one.name.startsWith('process_') ? { ...one, aggregator: 'first' } : one,
    )
  }

  return {
    /** As it is sent to the other thread. */
    json,

    /** From now on the text holds what `other` gives, too. */
    join(other: () => Promise<MetricsJson>): void {
      ofOther = other
    },

    async text(): Promise<string> {
      if (ofOther === undefined) return registry.metrics()
      return AggregatorRegistry.aggregate(await Promise.all([json(), ofOther()])).metrics()
    },
  }
}

/** What Node tells of this thread, and of the process, which only its main thread tells. */
export function collectOwnMetrics(registry: Registry): void {
  if (isMainThread) return collectDefaultMetrics({ register: registry })
  collectDefaultMetrics({ register: registry, labels: { thread: 'worker' } })
  for (const { name } of registry.getMetricsAsArray()) {
    if (name.startsWith('process_')) registry.removeSingleMetric(name)
  }
}
