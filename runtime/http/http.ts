import { Readable } from 'node:stream'
import type Koa from 'koa'
import { ApiError, DependencyError, toApiError } from '../errors.ts'
import { maskApiKeys } from '../../schemas/access/keys-in-text.ts'
import { hasLongUnreadBody, requestIdOf } from './http-request.ts'
import type { Logger } from '../process/logger.ts'
import type { Metrics } from '../process/metrics.ts'

export type HttpState = {
  requestId: string
  /**
   * The account, or another party, with whose work this request's work takes turns; set once known.
   */
  party?: string
}
export type HttpContext<S extends HttpState = HttpState> = Koa.ParameterizedContext<S>
export type HttpMiddleware<S extends HttpState = HttpState> = Koa.Middleware<S>

const REFUSALS_LOGGED_EVERY_MS = 60_000

/** Headers of every response: no caching, no content sniffing. */
export const EVERY_ANSWER = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const

/** Headers of a response with this JSON, or without a body: alternating names and values. */
export function contentHeaders(body: string): string[] {
  const mediaType = body === '' ? 'text/plain' : 'application/json'
  return [
    ...COMMON_HEADERS,
    'Content-Type',
    `${mediaType}; charset=utf-8`,
    'Content-Length',
    String(Buffer.byteLength(body)),
  ]
}

const COMMON_HEADERS = Object.entries(EVERY_ANSWER).flat()

/** Gives each request an `X-Request-Id`, and its response the common headers. */
export function identifyRequest(): HttpMiddleware {
  return async function identifyRequest(ctx, next) {
    ctx.state.requestId = requestIdOf(ctx.req)
    ctx.set({ 'X-Request-Id': ctx.state.requestId, ...EVERY_ANSWER })
    await next()
  }
}

/** Counts and times every response by its route; labels by path would be unbounded. */
export function observeRequests({
  service,
  metrics,
  logger,
}: {
  service: string
  metrics: Metrics
  logger: Logger
}): HttpMiddleware {
  const observe = requestObserver({ service, metrics, logger })
  return async function observeRequests(ctx, next) {
    const started = performance.now()
    await next()
    const { method, status, state } = ctx
    observe({ requestId: state.requestId, method, status, route: matchRoute(ctx), started })
  }
}

/** Counts and times one response. */
export function requestObserver({
  service,
  metrics,
  logger,
}: {
  service: string
  metrics: Metrics
  logger: Logger
}) {
  return function observe({
    requestId,
    method,
    status,
    route,
    started,
  }: HttpState & { method: string; status: number; route: string; started: number }): void {
    const seconds = (performance.now() - started) / 1000
    metrics.httpRequests.inc({ service, method, route, code: status })
    metrics.httpDuration.observe({ service, route }, seconds)
    if (logger.isLevelEnabled('debug')) {
      logger.debug({ requestId, method, route, status, seconds }, 'request answered')
    }
  }
}

/** Headers describing content that an error replaces. */
const OF_THE_CONTENT = ['Accept-Ranges', 'Content-Disposition', 'Content-Range', 'ETag']

/** Turns anything thrown into the error envelope (specification section 7). */
export function answerInEnvelope({ logger }: { logger: Logger }): HttpMiddleware {
  const failed = failureLog({ logger })
  return async function answerInEnvelope(ctx, next) {
    try {
      await next()
      if (ctx.status === 404 && ctx.body === undefined) throw noMatchError(ctx)
    } catch (thrown) {
      const error = failed(thrown, ctx.state)
      for (const name of OF_THE_CONTENT) ctx.remove(name)
      ctx.status = error.status
      ctx.body = errorEnvelope(error)
      ctx.set({ ...EVERY_ANSWER, ...error.headers })
      if (hasLongUnreadBody(ctx.req)) ctx.set('Connection', 'close')
    }
    if (ctx.res.destroyed && ctx.body instanceof Readable) {
      // Koa would wait for a disconnected client, with the file open.
      ctx.body.destroy()
      ctx.respond = false
    }
  }
}

/** Turns anything thrown into the error to send; logs failures that operators must know about. */
export function failureLog({ logger }: { logger: Logger }) {
  const noteRefusal = refusalLog({ logger })
  return function failed(thrown: unknown, { requestId }: HttpState): ApiError {
    const error = toApiError(thrown)
    if (error.error === 'SERVICE_UNAVAILABLE') noteRefusal(error)
    else if (error.status >= 500) {
      logger.error({ requestId, err: error.cause ?? thrown }, 'request failed')
    }
    return error
  }
}

/**
 * Logs responses with 503, which come in floods: the first immediately, later ones once a minute as
 * a count, with the cause of the last one if it has one. A response caused by an outage is counted
 * by the outage's log immediately, because a minute later the outage may be over.
 */
export function refusalLog({ logger }: { logger: Logger }): (refusal: ApiError) => void {
  let refused = 0
  let last: ApiError | undefined
  let pause: NodeJS.Timeout | undefined

  function tell(): void {
    pause = undefined
    if (last === undefined) return
    const { message: reason, cause } = last
    logger.warn(
      { refused, reason, ...(cause !== undefined && { err: cause }) },
      'answered with 503',
    )
    refused = 0
    last = undefined
    pause = setTimeout(tell, REFUSALS_LOGGED_EVERY_MS).unref()
  }

  return function note(refusal) {
    const { message: reason, cause } = refusal
    if (cause instanceof DependencyError && cause.outage !== undefined) {
      logger.warn({ reason, err: cause }, 'answered with 503')
      return
    }
    refused += 1
    last = refusal
    if (pause === undefined) tell()
  }
}

/** Logs responses aborted half-way; Koa emits these errors on the app. */
export function reportBrokenOff({ logger }: { logger: Logger }) {
  return function reportBrokenOff(error: NodeJS.ErrnoException, ctx?: { state?: HttpState }): void {
    const requestId = ctx?.state?.requestId
    if (GONE.has(error.code ?? '')) logger.debug({ requestId }, 'client disconnected')
    else logger.error({ requestId, err: error }, 'response aborted')
  }
}

/** Error codes of a caller that has disconnected. */
const GONE: ReadonlySet<string> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'])

/** The success envelope around `data`. */
export function succeed(
  ctx: HttpContext,
  data: unknown,
  { status = 200, message = 'OK' }: { status?: number; message?: string } = {},
): void {
  ctx.status = status
  ctx.body = successEnvelope(data, { status, message })
}

/** The body of every successful response in JSON. */
export function successEnvelope(
  data: unknown,
  { status, message }: { status: number; message: string },
) {
  return { success: true, code: status, message, data }
}

/** The body of every error response; a caller's API key is never repeated in it. */
export function errorEnvelope({ status, message, error, details }: ApiError) {
  return {
    success: false,
    code: status,
    message: maskKeys(message),
    error,
    ...(details !== undefined && {
      details: details.map((fault) => ({
        field: maskKeys(fault.field),
        message: maskKeys(fault.message),
      })),
    }),
  }
}

function maskKeys(text: string): string {
  return maskApiKeys(text, { cut: false })
}

type RouterContext = {
  readonly matched?: readonly {
    readonly methods: readonly string[]
    readonly paramNames: readonly unknown[]
  }[]
  readonly routeMatched?: boolean
  readonly _matchedRoute?: string | RegExp
}

function matchRoute(ctx: HttpContext): string {
  return String((ctx as RouterContext)._matchedRoute ?? 'none')
}

function noMatchError(ctx: HttpContext): ApiError {
  const { matched = [] } = ctx as RouterContext
  // A literal path takes precedence over one with a parameter that would match it.
  const fewest = Math.min(...matched.map(({ paramNames }) => paramNames.length))
  const own = matched.filter(({ paramNames }) => paramNames.length === fewest)
  const methods = own.flatMap((layer) => layer.methods)
  if (methods.length === 0) return nothingAtPath()
  const allowed = [...new Set(methods)].join(', ')
  return new ApiError('METHOD_NOT_ALLOWED', `this path takes ${allowed}`, {
    headers: { Allow: allowed },
  })
}

export function nothingAtPath(): ApiError {
  return new ApiError('NOT_FOUND', 'there is nothing at this path: see the documentation')
}
