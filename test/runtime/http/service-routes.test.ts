import { expect, test } from '@jest/globals'
import { loadConfig } from '../../../runtime/config/config.ts'
import { Lifecycle } from '../../../runtime/process/lifecycle.ts'
import { createLogger } from '../../../runtime/process/logger.ts'
import { createMetrics } from '../../../runtime/process/metrics.ts'
import { serveMetrics } from '../../../runtime/http/service-routes.ts'
import { startIngest } from '../../ingest-api/ingest-harness.ts'

async function served(env: Record<string, string>) {
  const logger = createLogger({ level: 'silent', name: 'test' })
  const urls: string[] = []
  logger.info = (fields: { url: string }) => urls.push(fields.url)
  const lifecycle = new Lifecycle({ logger, deadlineMs: 5_000 })
  const metrics = createMetrics()
  await serveMetrics({ config: loadConfig(env), logger, metrics, lifecycle })
  const [url] = urls
  return { url, lifecycle }
}

test('METRICS_PORT serves only the metrics', async () => {
  const { url, lifecycle } = await served({ METRICS_PORT: '0' })
  const answer = await fetch(`${url}/metrics`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
  expect(await answer.text()).toContain('process_cpu_seconds_total')
  for (const path of ['/', '/healthz', '/metrics/']) {
    expect((await fetch(url + path)).status).toBe(404)
  }
  await lifecycle.close()
})

test('without METRICS_PORT there is no separate port', async () => {
  const { url, lifecycle } = await served({})
  expect(url).toBeUndefined()
  await lifecycle.close()
})

test('a service with a separate metrics port serves no metrics on its main port', async () => {
  const ingest = await startIngest({ metricsElsewhere: true })
  expect((await ingest.request('/metrics')).status).toBe(404)
  expect((await ingest.request('/healthz')).status).toBe(200)
  await ingest.close()
})
