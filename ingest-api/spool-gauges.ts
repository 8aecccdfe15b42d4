import { Gauge, type Registry } from 'prom-client'
import type { SpoolDepth } from '../schemas/instance-report.ts'

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

  gauge('gps_spool_events', 'Events that wait in the spool for the log', ({ events }) => events)
  gauge('gps_spool_bytes', 'Bytes of these events', ({ bytes }) => bytes)
  gauge(
    'gps_spool_oldest_seconds',
    'Age of the oldest event in the spool; 0 when it is empty',
    ({ oldestSeconds }) => oldestSeconds,
  )
}
