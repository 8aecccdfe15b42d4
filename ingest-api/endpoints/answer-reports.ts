import type { IncomingMessage } from 'node:http'
import type Router from '@koa/router'
import type Koa from 'koa'
import type { HttpApp } from '../../runtime/http-server.ts'
import {
  errorEnvelope,
  EVERY_ANSWER,
  failureLog,
  hasLongUnreadBody,
  requestIdOf,
  requestObserver,
  successEnvelope,
  type HttpContext,
} from '../../runtime/http.ts'
import type { Load } from '../../runtime/load.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import type { Endpoint, ReportState } from '../requests/endpoint.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
const COMMON_HEADERS = Object.entries(EVERY_ANSWER).flat()

type Endpoints = Readonly<Record<string, Endpoint>>
type Answering = { readonly metrics: Metrics; readonly logger: Logger; readonly load: Load }
type AnswerReport = (
  ctx: HttpContext<ReportState>,
  route: { readonly path: string; readonly endpoint: Endpoint },
) => Promise<void>

/**
 * The app with endpoints for reports, which handle POST requests to their paths. Of Koa, they use only a
 * context: the router, answers written header by header, listeners for the end of a request and the
 * middleware chain would cost a report as much again as a bare server (bench/README.md).
 */
export function withReportEndpoints(
  { app, router }: { app: Koa<ReportState>; router: Router<ReportState> },
  endpoints: Endpoints,
  options: Answering,
): HttpApp & Pick<Koa<ReportState>, 'middleware'> {
  const answer = answerReport(options)
  const byPath = new Map(Object.entries(endpoints))
  // Known to the router for its 405.
  router.post([...byPath.keys()], () => {
    throw new Error('a report has come to the router')
  })

  return {
    middleware: app.middleware,
    callback() {
      const others = app.callback()
      return (request, response) => {
        const path = pathIn(request)
        const endpoint = request.method === 'POST' ? byPath.get(path) : undefined
        if (endpoint === undefined) return others(request, response)
        const ctx = app.createContext<ReportState>(request, response)
        return answer(ctx, { path, endpoint }).catch((error: Error) => ctx.onerror(error))
      }
    },
  }
}

function pathIn({ url = '' }: IncomingMessage): string {
  const end = url.search(/[?#]/)
  return end === -1 ? url : url.slice(0, end)
}

/** Does for a report everything that the app's middleware does for other requests. */
function answerReport({ metrics, logger, load }: Answering): AnswerReport {
  const observe = requestObserver({ service: 'ingest-api', metrics, logger })
  const failed = failureLog({ logger })

  return async function answerReport(ctx, { path, endpoint }) {
    const started = performance.now()
    const requestId = requestIdOf(ctx.req)
    const headers = ['X-Request-Id', requestId, ...COMMON_HEADERS, 'Content-Type', JSON_TYPE]
    Object.assign(ctx.state, { requestId, headers, heldBytes: 0 })
    try {
      const { data, message } = await endpoint(ctx)
      write(ctx, 200, successEnvelope(data, { status: 200, message }))
    } catch (thrown) {
      const error = failed(thrown, ctx.state)
      headers.push(...Object.entries(error.headers).flat())
      if (hasLongUnreadBody(ctx.req)) headers.push('Connection', 'close')
      write(ctx, error.status, errorEnvelope(error))
    } finally {
      load.release(ctx.state.heldBytes)
    }
    observe(ctx, { route: path, started })
    if (ctx.req.socket.destroyed) logger.debug({ requestId }, 'the caller has gone')
  }
}

function write(ctx: HttpContext<ReportState>, status: number, envelope: object): void {
  const body = JSON.stringify(envelope)
  const { headers } = ctx.state
  headers.push('Content-Length', String(Buffer.byteLength(body)))
  ctx.res.writeHead(status, headers).end(body)
}
