import type { IncomingMessage, ServerResponse } from 'node:http'
import { EVERY_ANSWER } from './http.ts'
import { requestIdOf } from './http-request.ts'

/** The origins whose pages may call an API with a key; `*`: every origin. */
export type CorsOrigins = '*' | readonly string[]

const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, Last-Event-ID',
  'Access-Control-Max-Age': '3600',
}
const EXPOSED = 'RateLimit, RateLimit-Policy, Retry-After, X-Request-Id'

/**
 * Lets pages of these origins send a request and read its response (Fetch Standard, CORS protocol).
 * Cookies are never allowed: a browser hides the response to a request that it sent with one.
 * @returns true if the request was a preflight, which gets its response here, before any
 * authentication.
 */
export function admitPages(
  origins: CorsOrigins,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const headers = corsHeaders(origins, request)
  for (const name in headers) response.setHeader(name, headers[name]!)
  const isAdmitted = 'Access-Control-Allow-Origin' in headers
  const { 'access-control-request-method': method } = request.headers
  if (!isAdmitted || request.method !== 'OPTIONS' || method === undefined) return false
  const own = { ...PREFLIGHT, ...EVERY_ANSWER, 'X-Request-Id': requestIdOf(request) }
  response.writeHead(204, own).end()
  return true
}

/** Returns the headers that let pages of these origins read the response to a request. */
export function corsHeaders(
  origins: CorsOrigins,
  { headers: { origin } }: { readonly headers: { readonly origin?: string | undefined } },
): Record<string, string> {
  if (origins === '*') return origin === undefined ? {} : admitOrigin('*')
  const vary = { Vary: 'Origin' }
  if (origin === undefined || !origins.includes(origin)) return vary
  return { ...vary, ...admitOrigin(origin) }
}

/**
 * Returns the headers for a request that could not be parsed. The origin is taken from the bytes
 * received; if it is not among them, the only listed origin is assumed: a page of another origin
 * cannot read the response anyway.
 */
export function pageHeadersUnread(origins: CorsOrigins, received?: Buffer): Record<string, string> {
  if (origins === '*') return admitOrigin('*')
  const [, sent] = ORIGIN_LINE.exec(received?.toString('latin1') ?? '') ?? []
  const [only, ...others] = origins
  const origin = sent ?? (others.length === 0 ? only : undefined)
  return corsHeaders(origins, { headers: { ...(origin !== undefined && { origin }) } })
}

const ORIGIN_LINE = /^origin:[ \t]*(\S+)[ \t]*\r?$/im

function admitOrigin(origin: string) {
  return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED }
}
