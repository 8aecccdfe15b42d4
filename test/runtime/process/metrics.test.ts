import { expect, test } from '@jest/globals'
import { Registry } from 'prom-client'
import { createMetrics, readinessGauge } from '../../../runtime/process/metrics.ts'

test('a scrape reports whether the service can work at that moment', async () => {
  const registry = new Registry()
  let missing: Error | undefined = new Error('the log is away')
  readinessGauge(registry).watch('ingest-api', async () => {
    if (missing !== undefined) throw missing
  })
  expect(await registry.metrics()).toContain('gps_ready{service="ingest-api"} 0')
  missing = undefined
  expect(await registry.metrics()).toContain('gps_ready{service="ingest-api"} 1')
})

test('a scrape does not wait for a hanging service, and checks it only once', async () => {
  const registry = new Registry()
  let asked = 0
  let hangs = false
  readinessGauge(registry).watch('projector', () => {
    asked += 1
    return hangs ? new Promise(() => undefined) : Promise.resolve()
  })
  expect(await registry.metrics()).toContain('gps_ready{service="projector"} 1')
  hangs = true
  await registry.metrics()
  await registry.metrics()
  expect(asked).toBe(2)
})

test('the CPU time before the first scrape counts, although Node is measured only from then on', async () => {
  const { user, system } = process.cpuUsage()
  const text = String(await createMetrics().page())
  const seconds = Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1])
  expect(seconds).toBeGreaterThanOrEqual((user + system) / 1e6)
})
