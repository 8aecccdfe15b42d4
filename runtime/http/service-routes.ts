import Router from '@koa/router'
import Koa from 'koa'
import type { Config } from '../config/config.ts'
import { DependencyError, reasonOf, unavailable } from '../errors.ts'
import {
  answerInEnvelope,
  identifyRequest,
  reportBrokenOff,
  succeed,
  type HttpState,
} from './http.ts'
import { serveHttp } from './http-server.ts'
import { VERSION } from '../process/instance.ts'
import type { Lifecycle } from '../process/lifecycle.ts'
import type { Logger } from '../process/logger.ts'
import type { Metrics } from '../process/metrics.ts'
import type { Operation } from '../openapi/document.ts'
import { successSchema } from '../openapi/envelope.ts'
import { objectOf, type JsonSchema } from '../openapi/json-schema.ts'

/**
 * The routes that every service has: name and version, health, readiness, metrics.
 * @param ready rejects with a message that names the missing part.
 */
export function serviceRoutes<S extends HttpState>(
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
    /** Whether the metrics have a separate port and are not served here. */
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
      // Passes the cause, so that an outage already logged is not logged again.
      const cause = error instanceof DependencyError ? error : undefined
      throw unavailable(`not ready: ${reasonOf(error)}`, cause)
    }
    succeed(ctx, { status: 'ready' })
  })
  if (!metricsElsewhere) metricsRoute(router, metrics)
}

export const SERVICE_TAG = {
  name: 'Service',
  description:
    'For whoever runs the service: health, metrics and these documents. Open to everybody.',
}

/** The calls that every HTTP API has besides its specific ones. */
export const SERVICE_CALLS: readonly Operation[] = [
  call('/', 'getService', 'Names the service and its version', {
    data: objectOf(
      { service: { type: 'string' }, version: { type: 'string' } },
      { title: 'Service' },
    ),
  }),
  call('/healthz', 'getHealth', 'Says whether the process lives', { data: status('alive') }),
  {
    ...call('/readyz', 'getReadiness', 'Says whether the service can do its work now', {
      data: status('ready'),
    }),
    description: 'A 503 names the missing part.',
    errors: ['SERVICE_UNAVAILABLE'],
  },
  {
    ...call('/metrics', 'getMetrics', 'Metrics in the text format of Prometheus', {
      content: { 'text/plain': { type: 'string' } },
    }),
    description: 'Rendered once a second at most. Not here where METRICS_PORT is set.',
    errors: ['NOT_FOUND'],
  },
  call('/openapi.json', 'getOpenApiDocument', 'This document', {
    content: {
      'application/json': {
        type: 'object',
        required: ['openapi'],
        properties: { openapi: { type: 'string' } },
      },
    },
  }),
  call('/docs', 'getDocs', 'This document as a page to read', {
    content: { 'text/html': { type: 'string' } },
  }),
]

type Serving = {
  readonly config: Pick<Config, 'host' | 'metricsPort' | 'shutdownDeadlineMs'>
  readonly logger: Logger
  readonly metrics: Metrics
  readonly lifecycle: Lifecycle
}

/** Serves the metrics of this process on METRICS_PORT, if set; no other port serves them then. */
export async function serveMetrics(serving: Serving): Promise<void> {
  const { metricsPort: port } = serving.config
  if (port === undefined) return
  const what = 'metrics are served'
  await serveRoutes(
    (router) => metricsRoute(router, serving.metrics),
    { port, variable: 'METRICS_PORT', what },
    serving,
  )
}

/** Serves a few routes until the lifecycle closes; logs the URL with `what`. */
export async function serveRoutes(
  addRoutes: (router: Router<HttpState>) => void,
  { port, variable, what }: { port: number; variable: string; what: string },
  { config: { host, shutdownDeadlineMs }, logger, lifecycle }: Serving,
): Promise<void> {
  const router = new Router<HttpState>({ strict: true, sensitive: true })
  addRoutes(router)
  const app = new Koa<HttpState>()
  app.use(identifyRequest())
  app.use(answerInEnvelope({ logger }))
  app.use(router.routes())
  app.on('error', reportBrokenOff({ logger }))
  const server = await serveHttp({ app, host, port, variable, graceMs: shutdownDeadlineMs / 2 })
  lifecycle.onClose('service routes', () => server.close())
  logger.info({ url: server.url }, what)
}

/** The metrics of the process, for Prometheus. */
function metricsRoute<S extends HttpState>(router: Router<S>, metrics: Metrics): void {
  router.get('/metrics', async (ctx) => {
    ctx.type = metrics.registry.contentType
    ctx.body = await metrics.page()
  })
}

function call(
  path: string,
  operationId: string,
  summary: string,
  answer: { data: JsonSchema } | { content: Readonly<Record<string, JsonSchema>> },
): Operation {
  const content =
    'content' in answer ? answer.content : { 'application/json': successSchema(200, answer.data) }
  return {
    method: 'GET',
    path,
    operationId,
    tag: SERVICE_TAG.name,
    summary,
    answer: { status: 200, description: summary, content },
    errors: [],
    security: [],
  }
}

function status(value: string): JsonSchema {
  return objectOf({ status: { const: value } })
}
