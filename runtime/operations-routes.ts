import type Router from '@koa/router'
import { unavailable, succeed, type HttpState } from './http.ts'
import type { Metrics } from './metrics.ts'
import { VERSION } from './version.ts'

/**
 * The routes for operations that every service has: name and version, health, readiness, metrics.
 * @param ready rejects with a message that names what is missing.
 */
export function operationsRoutes<S extends HttpState>(
  router: Router<S>,
  {
    name,
    ready,
    stopping,
    metrics,
    metricsElsewhere,
  }: {
    name: string
    ready: () => Promise<void>
    stopping: AbortSignal
    metrics: Metrics
    /** Whether the metrics have a port of their own and are not served here. */
    metricsElsewhere: boolean
  },
): void {
  const readyNow = async () => {
    if (stopping.aborted) throw new Error('the service is stopping')
    await ready()
  }
  metrics.readiness.watch(name.replace('gps-', ''), readyNow)
  router.get('/', (ctx) => succeed(ctx, { service: name, version: VERSION }))
  router.get('/healthz', (ctx) => succeed(ctx, { status: 'alive' }))
  router.get('/readyz', async (ctx) => {
    try {
      await readyNow()
    } catch (error) {
      throw unavailable(`not ready: ${error instanceof Error ? error.message : String(error)}`)
    }
    succeed(ctx, { status: 'ready' })
  })
  if (!metricsElsewhere) metricsRoute(router, metrics)
}

/** The metrics of the process, for Prometheus. */
export function metricsRoute<S extends HttpState>(router: Router<S>, metrics: Metrics): void {
  router.get('/metrics', async (ctx) => {
    ctx.type = metrics.registry.contentType
    ctx.body = await metrics.page()
  })
}
