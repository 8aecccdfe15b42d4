import { Gauge, type Registry } from 'prom-client'
import type { SpoolDepth } from '../schemas/instance-report.ts'

/** The contents of the spool, read at each scrape; without a spool the gauges have no value. */
export function spoolGauges(registry: Registry) {
  let depth: (() => SpoolDepth) | undefined

  function gauge(name: string, help: string, read: (depth: SpoolDepth) => number): void {
    const gauge = new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        if (depth !== undefined) this.set(read(depth()))
      },
    })
    gauge.remove()
  }

  gauge('gps_spool_events', 'Events that wait in the spool for the log', ({ events }) => events)
  gauge('gps_spool_bytes', 'Bytes of these events', ({ bytes }) => bytes)
  gauge(
    'gps_spool_oldest_seconds',
    'Age of the oldest event in the spool; 0 when it is empty',
    ({ oldestSeconds }) => oldestSeconds,
  )

  return {
    watch(spool: () => SpoolDepth): void {
      depth = spool
    },
  }
}
