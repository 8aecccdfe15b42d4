import Router from '@koa/router'
import Koa from 'koa'
import type { Clock } from '../runtime/clock.ts'
import {
  answerInEnvelope,
  identifyRequest,
  observeRequests,
  type HttpMiddleware,
  type HttpState,
} from '../runtime/http.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { operationsRoutes } from '../runtime/operations-routes.ts'
import type { Store } from '../store/store.ts'
import type { AdminRoute } from './admin-route.ts'
import { authorized } from './authorize.ts'
import { deviceRoutes } from './devices.ts'
import { keyRoutes } from './keys.ts'
import { positionRoutes } from './positions.ts'
import { sessionRoutes } from './session.ts'

export const PREFIX = '/api/v1'

/** Every call under the prefix, and who may make it. */
export function adminRoutes(deps: { store: Store; clock: Clock }): AdminRoute[] {
  return [
    ...sessionRoutes(deps),
    ...keyRoutes(deps),
    ...deviceRoutes(deps),
    ...positionRoutes(deps),
  ]
}

/**
 * The admin API as a Koa app, middleware in the order in which a request meets it.
 * @param trustProxy how many proxies stand in front, whose X-Forwarded-* headers are believed.
 */
export function createAdminApp({
  store,
  clock,
  logger,
  metrics,
  stopping,
  trustProxy,
}: {
  store: Store
  clock: Clock
  logger: Logger
  metrics: Metrics
  stopping: AbortSignal
  trustProxy: number
}): Koa<HttpState> {
  const router = new Router<HttpState>()
  operationsRoutes(router, {
    name: 'gps-admin-api',
    metrics,
    ready: () => store.ready(),
    stopping,
  })
  for (const route of adminRoutes({ store, clock })) {
    router.register(
      PREFIX + route.path,
      [route.method],
      [keepPrivate(), authorized(route, { store, clock, logger })],
    )
  }

  const app = new Koa<HttpState>({ proxy: trustProxy > 0, maxIpsCount: trustProxy })
  app.use(identifyRequest())
  app.use(observeRequests({ service: 'admin-api', metrics, logger }))
  app.use(answerInEnvelope({ logger }))
  app.use(router.routes())
  return app
}

/** Answers hold one account's data, some a secret: no cache keeps them, no browser runs them. */
function keepPrivate(): HttpMiddleware {
  return async function keepPrivate(ctx, next) {
    ctx.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
    await next()
  }
}
