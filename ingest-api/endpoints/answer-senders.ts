import type { IncomingMessage } from 'node:http'
import type { HttpAnswer } from '../../runtime/http-answer.ts'
import type { ApiError } from '../../runtime/errors.ts'
import {
  errorEnvelope,
  EVERY_ANSWER,
  failureLog,
  hasLongUnreadBody,
  requestObserver,
  successEnvelope,
} from '../../runtime/http.ts'
import type { HttpApp } from '../../runtime/http-server.ts'
import type { InFlight } from '../../runtime/load.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { senderRequest, targetOf, type SenderRequest } from '../requests/sender-request.ts'

const COMMON_HEADERS = Object.entries(EVERY_ANSWER).flat()

/** The body is JSON, or empty. */
export type SenderAnswer = { readonly status: number; readonly body: string }

/** One way of reporting: it turns a request into reports, and their outcomes into an answer. */
export type Endpoint = {
  /** Names the route in metrics. */
  readonly path: string
  /** @throws {ApiError | DependencyError} for a failure of the whole request. */
  readonly answer: (request: SenderRequest) => Promise<SenderAnswer>
  /** The error that the sender gets in place of another one; absent: that one. */
  readonly errorFor?: (error: ApiError) => ApiError
}

/** The endpoint of a request; undefined if the request is not a sender's. */
export type EndpointOf = (
  http: IncomingMessage,
  target: Pick<SenderRequest, 'path' | 'query'>,
) => Endpoint | undefined

/**
 * Answers senders' requests, and leaves all others to `app`. A router, answers written header by
 * header, listeners for the end of a request and a chain of middleware would cost a report as much
 * again as a bare server (docs/decisions/koa-on-the-way-of-a-report.md).
 */
export function answerSenders(
  app: HttpApp,
  {
    endpointOf,
    metrics,
    logger,
    load,
  }: {
    readonly endpointOf: EndpointOf
    readonly metrics: Metrics
    readonly logger: Logger
    readonly load: InFlight
  },
): HttpApp {
  const observe = requestObserver({ service: 'ingest-api', metrics, logger })
  const failed = failureLog({ logger })

  async function answer(request: SenderRequest, response: HttpAnswer, endpoint: Endpoint) {
    const started = performance.now()
    const { http, requestId } = request
    const { path: route, errorFor } = endpoint
    try {
      write(request, response, await endpoint.answer(request))
    } catch (thrown) {
      const error = failed(thrown, request)
      const told = errorFor?.(error) ?? error
      request.answerHeaders.push(...Object.entries(told.headers).flat())
      if (hasLongUnreadBody(http, request.mostUnreadBytes)) {
        request.answerHeaders.push('Connection', 'close')
      }
      write(request, response, { status: told.status, body: JSON.stringify(errorEnvelope(told)) })
    } finally {
      load.release(request)
      request.endWork?.()
    }
    const { method = '' } = http
    observe({ requestId, method, status: response.statusCode, route, started })
    if (http.socket.destroyed) logger.debug({ requestId }, 'the caller has gone')
  }

  return {
    callback() {
      const others = app.callback()
      return (http, response) => {
        const target = targetOf(http)
        const endpoint = endpointOf(http, target)
        if (endpoint === undefined) return others(http, response)
        const hasPlace = response.takePlace(load)
        return answer(senderRequest(http, target, hasPlace), response, endpoint)
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
  const mediaType = body === '' ? 'text/plain' : 'application/json'
  answerHeaders.push(...COMMON_HEADERS, 'Content-Type', `${mediaType}; charset=utf-8`)
  answerHeaders.push('Content-Length', String(Buffer.byteLength(body)))
  response.writeHead(status, answerHeaders).end(body)
}
