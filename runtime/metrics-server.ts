import Router from '@koa/router'
import Koa from 'koa'
import type { Config } from './config/config.ts'
import { answerInEnvelope, identifyRequest, reportBrokenOff, type HttpState } from './http.ts'
import { serveHttp } from './http-server.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import { metricsRoute } from './operations-routes.ts'

/** Serves the metrics of this process on METRICS_PORT, if set; no other port serves them then. */
export async function serveMetrics({
  config: { metricsPort: port, host, shutdownDeadlineMs },
  logger,
  metrics,
  lifecycle,
}: {
  config: Config
  logger: Logger
  metrics: Metrics
  lifecycle: Lifecycle
}): Promise<void> {
  if (port === undefined) return
  const router = new Router<HttpState>({ strict: true })
  metricsRoute(router, metrics)
  const app = new Koa<HttpState>()
  app.use(identifyRequest())
  app.use(answerInEnvelope({ logger }))
  app.use(router.routes())
  app.on('error', reportBrokenOff({ logger }))
  const server = await serveHttp({ app, host, port, graceMs: shutdownDeadlineMs / 2 })
  lifecycle.onClose('metrics', () => server.close())
  logger.info({ url: server.url }, 'metrics are served')
}
