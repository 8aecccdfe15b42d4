import type { IncomingMessage, ServerResponse } from 'node:http'
import { EVERY_ANSWER, requestIdOf } from './http.ts'

/** The origins whose pages may call an API with a key; `*`: every origin. */
export type CorsOrigins = '*' | readonly string[]

const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PATCH, DELETE',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, Last-Event-ID',
  'Access-Control-Max-Age': '3600',
}
const EXPOSED = 'RateLimit, RateLimit-Policy, Retry-After, X-Request-Id'

/**
 * Lets pages of these origins send a request and read its answer (Fetch Standard, CORS protocol). Cookies are
 * never allowed: a browser hides the answer to a request that it sent with one.
 * @returns true if the request was a preflight, which is answered here, before any authentication.
 */
export function admitPages(
  origins: CorsOrigins,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (origins !== '*') response.setHeader('Vary', 'Origin')
  const { origin, 'access-control-request-method': method } = request.headers
  if (origin === undefined || (origins !== '*' && !origins.includes(origin))) return false
  response.setHeader('Access-Control-Allow-Origin', origins === '*' ? '*' : origin)
  if (request.method === 'OPTIONS' && method !== undefined) {
    response
      .writeHead(204, { ...PREFLIGHT, ...EVERY_ANSWER, 'X-Request-Id': requestIdOf(request) })
      .end()
    return true
  }
  response.setHeader('Access-Control-Expose-Headers', EXPOSED)
  return false
}
