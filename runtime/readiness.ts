import { Gauge, type Registry } from 'prom-client'

/** The longest that a scrape waits for a check; a later result shows at the next scrape. */
const WAITED_MS = 250

export type Readiness = ReturnType<typeof readinessGauge>

/** `gps_ready`: whether each service of the process can do its work, checked at each scrape. */
export function readinessGauge(registry: Registry) {
  const services = new Map<string, () => Promise<void>>()
  new Gauge({
    name: 'gps_ready',
    help: '1 while the service can do its work, as /readyz tells; else 0',
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
