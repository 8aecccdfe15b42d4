import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError, ERRORS, type ErrorIdentifier } from './errors.ts'
import { errorEnvelope, hasLongUnreadBody, retryAfterSeconds } from './http.ts'

/** Headers of every answer: no caching, no content sniffing. */
export const EVERY_ANSWER = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const

/** Answers a request before it reaches the app, in the envelope, and closes the connection. */
export function refuseRequest(
  response: ServerResponse,
  identifier: ErrorIdentifier,
  message: string,
): void {
  const { status, headers, body } = bareAnswer(identifier, message)
  response.writeHead(status, { ...headers, Connection: 'close' }).end(body)
}

/** 503 for a request that there is no room for; cheap, because such requests come in floods. */
export function refuseOverload(response: ServerResponse): void {
  const { status, headers, body } = bareAnswer('SERVICE_UNAVAILABLE', OVERLOADED)
  response.setHeader('Retry-After', retryAfterSeconds())
  if (hasLongUnreadBody(response.req)) response.setHeader('Connection', 'close')
  response.writeHead(status, headers).end(body)
}

const OVERLOADED = 'the service is overloaded, please send it again'

/** Answers on the bare socket, and leaves the client time to read before the connection closes. */
export function refuseConnection(
  socket: Duplex,
  identifier: ErrorIdentifier,
  message: string,
): void {
  if (!socket.writable) return void socket.destroy()
  const { status, headers, body } = bareAnswer(identifier, message)
  const lines = Object.entries({ ...headers, Connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  socket.end([`HTTP/1.1 ${status} ${identifier}`, ...lines, '', body].join('\r\n'))
  socket.on('error', () => undefined)
  socket.resume()
  if ('setTimeout' in socket) (socket as Socket).setTimeout(1_000, () => socket.destroy())
}

function bareAnswer(identifier: ErrorIdentifier, message: string) {
  const body = JSON.stringify(errorEnvelope(new ApiError(identifier, message)))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': randomUUID(),
    ...EVERY_ANSWER,
    ...(identifier === 'METHOD_NOT_ALLOWED' && { Allow: 'GET, HEAD, POST' }),
  }
  return { status: ERRORS[identifier], headers, body }
}
