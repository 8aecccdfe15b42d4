import Router from '@koa/router'
import Koa from 'koa'
import type { EventLog } from '../event-log/event-log.ts'
import {
  answerInEnvelope,
  identifyRequest,
  reportBrokenOff,
  type HttpState,
} from '../runtime/http.ts'
import { serveHttp } from '../runtime/http-server.ts'
import { operationsRoutes } from '../runtime/operations-routes.ts'
import type { Program } from '../runtime/program.ts'
import type { Store } from '../store/store.ts'

/** Serves health, readiness (log and store answer) and metrics of a projector process. */
export async function serveOperations(
  port: number,
  { eventLog, store }: { eventLog: Pick<EventLog, 'ready'>; store: Pick<Store, 'ready'> },
  { config, logger, metrics, lifecycle }: Program,
): Promise<void> {
  const router = new Router<HttpState>({ strict: true })
  operationsRoutes(router, {
    name: 'gps-projector',
    metrics,
    metricsElsewhere: config.metricsPort !== undefined,
    ready: async () => {
      await Promise.all([eventLog.ready(), store.ready()])
    },
    stopping: lifecycle.stopping,
  })
  const app = new Koa<HttpState>()
  app.use(identifyRequest())
  app.use(answerInEnvelope({ logger }))
  app.use(router.routes())
  app.on('error', reportBrokenOff({ logger }))
  const server = await serveHttp({
    app,
    host: config.host,
    port,
    graceMs: config.shutdownDeadlineMs / 2,
  })
  lifecycle.onClose('operations', () => server.close())
  logger.info({ url: server.url }, 'projector listens')
}
