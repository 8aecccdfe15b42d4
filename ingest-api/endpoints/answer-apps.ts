import { ApiError } from '../../runtime/errors.ts'
import {
  errorEnvelope,
  EVERY_ANSWER,
  failureLog,
  requestIdOf,
  requestObserver,
  retryAfterSeconds,
  type HttpContext,
  type HttpMiddleware,
} from '../../runtime/http.ts'
import type { Load } from '../../runtime/load.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import type { ReportState } from '../requests/endpoint.ts'
import { EMPTY, type App, type AppAnswer } from '../apps/app.ts'
import { appRouteOf, takes } from '../apps/app-routes.ts'
import type { TakeApp } from './take-app.ts'

const COMMON_HEADERS = Object.entries(EVERY_ANSWER).flat()

/** Answers the requests of apps, each in the way that the app needs. */
export function answerApps({
  take,
  load,
  metrics,
  logger,
}: {
  take: TakeApp
  load: Load
  metrics: Metrics
  logger: Logger
}): HttpMiddleware<ReportState> {
  const observe = requestObserver({ service: 'ingest-api', metrics, logger })
  const failed = failureLog({ logger })

  return async function answerApps(ctx, next) {
    const { method } = ctx
    const route = appRouteOf(ctx.path)
    if (route === undefined || !takes(route, { method, query: ctx.querystring })) {
      await next()
      return
    }
    const started = performance.now()
    const requestId = requestIdOf(ctx.req)
    const headers = ['X-Request-Id', requestId, ...COMMON_HEADERS]
    Object.assign(ctx.state, { requestId, headers, heldBytes: 0 })
    try {
      write(ctx, method === 'HEAD' ? EMPTY : await take(ctx, route))
    } catch (thrown) {
      const error = forApp(failed(thrown, ctx.state), route.app)
      headers.push(...Object.entries(error.headers).flat())
      write(ctx, { status: error.status, body: JSON.stringify(errorEnvelope(error)) })
    } finally {
      load.release(ctx.state.heldBytes)
    }
    observe(ctx, { route: route.path, started })
  }
}

/** A 503 for every refused request, so that the app resends it, except one without a valid key. */
function forApp(error: ApiError, { never4xx = false }: App): ApiError {
  if (error.error === 'SERVICE_UNAVAILABLE') return error
  if (error.error === 'UNAUTHORIZED' && !never4xx) return error
  const message = error.error === 'SERVER_ERROR' ? AGAIN : error.message
  const retryAfter = error.headers['Retry-After'] ?? retryAfterSeconds()
  return new ApiError('SERVICE_UNAVAILABLE', message, { headers: { 'Retry-After': retryAfter } })
}

const AGAIN = 'the service cannot do this right now, please send it again'

function write(ctx: HttpContext<ReportState>, { status, body }: AppAnswer): void {
  // Koa leaves the answer to us.
  ctx.respond = false
  const { headers } = ctx.state
  const mediaType = body === '' ? 'text/plain' : 'application/json'
  headers.push('Content-Type', `${mediaType}; charset=utf-8`)
  headers.push('Content-Length', String(Buffer.byteLength(body)))
  ctx.res.writeHead(status, headers).end(body)
}
