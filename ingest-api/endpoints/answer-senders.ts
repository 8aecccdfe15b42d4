import type { IncomingMessage } from 'node:http'
import type { ApiError } from '../../runtime/errors.ts'
import {
  contentHeaders,
  errorEnvelope,
  failureLog,
  requestObserver,
  successEnvelope,
} from '../../runtime/http/http.ts'
import { hasLongUnreadBody } from '../../runtime/http/http-request.ts'
import type { HttpApp } from '../../runtime/http/http-server.ts'
import type { HttpAnswer } from '../../runtime/http/in-flight.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import type { Metrics } from '../../runtime/process/metrics.ts'
import type { ReportMetrics } from '../accept/report-metrics.ts'
import { SenderRequest, targetOf } from '../admission/sender-request.ts'
import { appRouteOf, handlesPath, type AppRoute } from '../apps/app-routes.ts'

/** The body: JSON, or empty. */
export type SenderAnswer = { readonly status: number; readonly body: string }

/** An endpoint: turns a request into reports, and their outcomes into a response. */
export type Endpoint = {
  /** The route's name in metrics. */
  readonly path: string
  /** The name of the app whose format it reads; absent for our own. */
  readonly app?: string
  /** @throws {ApiError | DependencyError} for a failure of the whole request. */
  readonly answer: (request: SenderRequest) => Promise<SenderAnswer>
  /** Replaces an error before it is sent; by default errors are sent unchanged. */
  readonly errorFor?: (error: ApiError) => ApiError
}

/**
 * Responds to senders' requests, and passes all others to `app`. A router, header-by-header
 * responses, listeners for the end of a request and a middleware chain would double the cost of a
 * report on a bare server (docs/decisions/requests.md).
 */
export function answerSenders(
  app: HttpApp,
  {
    endpoints,
    appEndpoint,
    reportMetrics,
    metrics,
    logger,
  }: {
    /** The endpoints of our own format, all for POST. */
    readonly endpoints: readonly Endpoint[]
    readonly appEndpoint: (route: AppRoute) => Endpoint
    readonly reportMetrics: ReportMetrics
    readonly metrics: Metrics
    readonly logger: Logger
  },
): HttpApp {
  const observe = requestObserver({ service: 'ingest-api', metrics, logger })
  const failed = failureLog({ logger })
  const byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]))

  /** Finds the endpoint of a request; undefined if it is not a sender's request. */
  function endpointOf(
    { method = '' }: IncomingMessage,
    { path, query }: Pick<SenderRequest, 'path' | 'query'>,
  ): Endpoint | undefined {
    const endpoint = byPath.get(path)
    if (endpoint !== undefined) return method === 'POST' ? endpoint : undefined
    const route = appRouteOf(path)
    return route && handlesPath(route, { method, query }) ? appEndpoint(route) : undefined
  }

  async function answer(request: SenderRequest, response: HttpAnswer, endpoint: Endpoint) {
    const { http, requestId, started } = request
    const { path: route, errorFor } = endpoint
    try {
      write(request, response, await endpoint.answer(request))
    } catch (thrown) {
      reportMetrics.failed(thrown, request)
      const error = failed(thrown, request)
      const sent = errorFor?.(error) ?? error
      request.answerHeaders.push(...Object.entries(sent.headers).flat())
      if (hasLongUnreadBody(http, request.mostUnreadBytes)) {
        request.answerHeaders.push('Connection', 'close')
      }
      write(request, response, { status: sent.status, body: JSON.stringify(errorEnvelope(sent)) })
    } finally {
      request.release()
    }
    const { method = '' } = http
    observe({ requestId, method, status: response.statusCode, route, started })
    if (http.socket.destroyed) logger.debug({ requestId }, 'client disconnected')
  }

  return {
    callback() {
      const others = app.callback()
      return (http, response) => {
        const target = targetOf(http)
        const endpoint = endpointOf(http, target)
        if (endpoint === undefined) return others(http, response)
        return answer(new SenderRequest(http, target, response, endpoint.app), response, endpoint)
      }
    },
  }
}

/** The 200 of calls in our format. */
export function success(message: string, data: unknown): SenderAnswer {
  return { status: 200, body: JSON.stringify(successEnvelope(data, { status: 200, message })) }
}

function write(
  { answerHeaders }: SenderRequest,
  response: HttpAnswer,
  { status, body }: SenderAnswer,
): void {
  answerHeaders.push(...contentHeaders(body))
  response.writeHead(status, answerHeaders).end(body)
}
