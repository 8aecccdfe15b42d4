import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError, ERRORS, retryAfterSeconds, type ErrorIdentifier } from './errors.ts'
import { errorEnvelope, EVERY_ANSWER, hasLongUnreadBody } from './http.ts'

/** Answers a request before it reaches the app, in the envelope, and closes the connection. */
export function refuseRequest(
  response: ServerResponse,
  identifier: ErrorIdentifier,
  message: string,
): void {
  const { status, headers, body } = bareAnswer(identifier, message)
  const own = { ...headers, 'X-Request-Id': randomUUID(), Connection: 'close' }
  response.writeHead(status, own).end(body)
}

/** A 503 for a request beyond the load limit; cheap, because such requests come in floods. */
export function refuseOverload(response: ServerResponse, seconds: number): void {
  const own = ['X-Request-Id', randomUUID(), 'Retry-After', String(seconds)]
  const headers = [...OVERLOADED.headers, ...own]
  if (hasLongUnreadBody(response.req)) headers.push('Connection', 'close')
  response.writeHead(OVERLOADED.status, headers).end(OVERLOADED.body)
}

/** Answers on the bare socket, and leaves the client time to read before the connection closes. */
export function refuseConnection(
  socket: Duplex,
  identifier: ErrorIdentifier,
  message: string,
  moreHeaders: Readonly<Record<string, string>> = {},
): void {
  if (!socket.writable) return void socket.destroy()
  const { status, headers, body } = bareAnswer(identifier, message)
  const own = { ...headers, ...moreHeaders, 'X-Request-Id': randomUUID(), Connection: 'close' }
  const lines = Object.entries(own).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${identifier}`, ...lines, '', body].join('\r\n'))
  socket.on('error', () => undefined)
  socket.resume()
  if ('setTimeout' in socket) (socket as Socket).setTimeout(1_000, () => socket.destroy())
}

function bareAnswer(identifier: ErrorIdentifier, message: string) {
  const answer = withoutTime(identifier, message)
  const isLater = identifier === 'SERVICE_UNAVAILABLE'
  const headers = { ...answer.headers, ...(isLater && { 'Retry-After': retryAfterSeconds() }) }
  return { ...answer, headers }
}

/** The answer without the `Retry-After` that a 503 needs. */
function withoutTime(identifier: ErrorIdentifier, message: string) {
  const body = JSON.stringify(errorEnvelope(new ApiError(identifier, message)))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    ...EVERY_ANSWER,
    ...(identifier === 'METHOD_NOT_ALLOWED' && { Allow: 'GET, HEAD, POST' }),
  }
  return { status: ERRORS[identifier], headers, body }
}

const OVERLOADED = overloaded()

function overloaded() {
  const message = 'the service is overloaded, please send it again'
  const { headers, ...rest } = withoutTime('SERVICE_UNAVAILABLE', message)
  return { headers: Object.entries(headers).flat(), ...rest }
}
