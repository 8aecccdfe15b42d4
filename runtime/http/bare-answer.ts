import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ApiError, ERRORS, retryAfterSeconds, type ErrorIdentifier } from '../errors.ts'
import { contentHeaders, errorEnvelope } from './http.ts'
import { hasLongUnreadBody } from './http-request.ts'

/** Answers a request before it reaches the app, in the envelope, and closes the connection. */
export function refuseRequest(
  response: ServerResponse,
  identifier: ErrorIdentifier,
  message: string,
): void {
  const { status, headers, body } = bareAnswer(identifier, message)
  response.writeHead(status, [...headers, ...formatEndHeaders()]).end(body)
}

/** A 503 for a request beyond the load limit; cheap, because such requests come in floods. */
export function refuseOverload(response: ServerResponse, seconds: number): void {
  const own = ['X-Request-Id', randomUUID(), 'Retry-After', String(seconds)]
  const headers = [...OVERLOADED.headers, ...own]
  if (hasLongUnreadBody(response.req)) headers.push('Connection', 'close')
  response.writeHead(OVERLOADED.status, headers).end(OVERLOADED.body)
}

/** How long a refused client may keep sending before its connection is closed. */
const LINGERS_MS = 3_000

/**
 * Responds on the bare socket, and leaves the client time to read: the connection closes once the
 * client has sent nothing for a second, and after 3 s in any case.
 */
export function refuseConnection(
  socket: Duplex,
  identifier: ErrorIdentifier,
  message: string,
  moreHeaders: Readonly<Record<string, string>> = {},
): void {
  if (!socket.writable) return void socket.destroy()
  const { status, headers, body } = bareAnswer(identifier, message)
  const own = [...headers, ...Object.entries(moreHeaders).flat(), ...formatEndHeaders()]
  const lines = own.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${own[at + 1]}`] : []))
  socket.end([`HTTP/1.1 ${status} ${identifier}`, ...lines, '', body].join('\r\n'))
  socket.on('error', () => undefined)
  socket.resume()
  if ('setTimeout' in socket) (socket as Socket).setTimeout(1_000, () => socket.destroy())
  const cut = setTimeout(() => socket.destroy(), LINGERS_MS).unref()
  socket.once('close', () => clearTimeout(cut))
}

function formatEndHeaders(): string[] {
  return ['X-Request-Id', randomUUID(), 'Connection', 'close']
}

function bareAnswer(identifier: ErrorIdentifier, message: string) {
  const { status, headers, body } = formatWithoutTime(identifier, message)
  if (identifier === 'SERVICE_UNAVAILABLE') headers.push('Retry-After', retryAfterSeconds())
  return { status, headers, body }
}

/** The response without the `Retry-After` that a 503 needs. */
function formatWithoutTime(identifier: ErrorIdentifier, message: string) {
  const body = JSON.stringify(errorEnvelope(new ApiError(identifier, message)))
  const headers = contentHeaders(body)
  if (identifier === 'METHOD_NOT_ALLOWED') headers.push('Allow', 'GET, HEAD, POST')
  return { status: ERRORS[identifier], headers, body }
}

const OVERLOADED = formatWithoutTime(
  'SERVICE_UNAVAILABLE',
  'the service is overloaded, please send it again',
)
