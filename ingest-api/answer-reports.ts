import {
  errorEnvelope,
  EVERY_ANSWER,
  failureLog,
  hasLongUnreadBody,
  requestIdOf,
  requestObserver,
  successEnvelope,
  type HttpContext,
  type HttpMiddleware,
} from '../runtime/http.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { Endpoint, ReportState } from './senders/endpoint.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
const COMMON_HEADERS = Object.entries(EVERY_ANSWER).flat()

/**
 * Answers POST requests to the given paths, with everything that the app's middleware does for the
 * others. Paths are looked up and answers written in one piece here, because the router and Koa's
 * header by header each cost half as much again as a bare server (bench/README.md).
 */
export function answerReports(
  endpoints: Readonly<Record<string, Endpoint>>,
  { metrics, logger }: { metrics: Metrics; logger: Logger },
): HttpMiddleware<ReportState> {
  const observe = requestObserver({ service: 'ingest-api', metrics, logger })
  const failed = failureLog({ logger })
  const byPath = new Map(Object.entries(endpoints))

  return async function answerReports(ctx, next) {
    const endpoint = byPath.get(ctx.path)
    if (endpoint === undefined || ctx.method !== 'POST') {
      await next()
      return
    }
    const started = performance.now()
    const requestId = requestIdOf(ctx.req)
    const headers = ['X-Request-Id', requestId, ...COMMON_HEADERS, 'Content-Type', JSON_TYPE]
    Object.assign(ctx.state, { requestId, headers })
    try {
      const { data, message } = await endpoint(ctx)
      write(ctx, 200, successEnvelope(data, { status: 200, message }))
    } catch (thrown) {
      const error = failed(thrown, ctx.state)
      headers.push(...Object.entries(error.headers).flat())
      if (hasLongUnreadBody(ctx.req)) headers.push('Connection', 'close')
      write(ctx, error.status, errorEnvelope(error))
    }
    observe(ctx, { route: ctx.path, started })
  }
}

function write(ctx: HttpContext<ReportState>, status: number, envelope: object): void {
  // Koa leaves the answer to us.
  ctx.respond = false
  const body = JSON.stringify(envelope)
  const { headers } = ctx.state
  headers.push('Content-Length', String(Buffer.byteLength(body)))
  ctx.res.writeHead(status, headers).end(body)
}
