import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { HttpAnswer, type InFlight } from './in-flight.ts'
import { admitPages, corsHeaders, pageHeadersUnread, type CorsOrigins } from './cors.ts'
import { refuseConnection, refuseOverload, refuseRequest } from './bare-answer.ts'
import type { ConnectionLimits } from './connection.ts'
import { Connections } from './connections.ts'
import { listen } from './listen.ts'

/** Node silently drops headers beyond its own cap, possibly X-Forwarded-For or the cookie. */
const MOST_HEADERS = 100
/**
 * Node notices that a client has stopped reading its response after this time, or twice this time.
 */
const UNREAD_MS = 18_000
/** A request must arrive within this time, its headers within 10 s. */
const ARRIVES_WITHIN_MS = 15_000
const HEADERS_WITHIN_MS = 10_000
/** After a response the next request must start within this time. */
const IDLE_MS = 70_000
const CHECKED_EVERY_MS = 1_000

export type HttpServer = {
  readonly url: string
  /**
   * Accepts no new connection, answers the requests received, then ends. Connections still open
   * after `graceMs`, such as one with half a body sent, are destroyed.
   */
  close(): Promise<void>
}

/** The part of a Koa app that a server uses. */
export type HttpApp = {
  callback(): (request: IncomingMessage, response: HttpAnswer) => Promise<void>
}

/** Beyond its load limit, a server rejects requests that change something, with 503. */
export type Overload = {
  readonly inFlight: InFlight
  /** Called for each request that was rejected before it reached the app. */
  readonly onRefused: () => void
}

/**
 * Serves an app with limits against slow or hostile clients. Requests that the HTTP parser
 * rejects get their responses in the error envelope too.
 */
export async function serveHttp({
  app,
  host,
  port,
  variable,
  graceMs,
  unreadMs = UNREAD_MS,
  arrivesWithinMs = ARRIVES_WITHIN_MS,
  idleMs = IDLE_MS,
  handles = 1,
  overload,
  comesAgain = () => false,
  corsOrigins,
  ...limits
}: Partial<ConnectionLimits> & {
  app: HttpApp
  host: string
  port: number
  /** The setting that names the port, for the message if it cannot be opened. */
  variable?: string
  graceMs: number
  unreadMs?: number
  arrivesWithinMs?: number
  idleMs?: number
  /** Handles of the listening socket: with more handles it accepts more connections per turn. */
  handles?: number
  overload?: Overload
  /** Whether the caller should retry an incomplete request, which then gets a 503. */
  comesAgain?: (request: IncomingMessage) => boolean
  /** Origins whose pages may call the app, if any. */
  corsOrigins?: CorsOrigins | undefined
}): Promise<HttpServer> {
  const headersWithinMs = Math.min(HEADERS_WITHIN_MS, arrivesWithinMs)
  const server = createServer<typeof IncomingMessage, typeof HttpAnswer>({
    ServerResponse: HttpAnswer,
    headersTimeout: headersWithinMs,
    requestTimeout: arrivesWithinMs,
    connectionsCheckingInterval: Math.min(CHECKED_EVERY_MS, arrivesWithinMs),
    keepAliveTimeout: idleMs,
    // Checked below instead, so that the error is sent in the envelope.
    requireHostHeader: false,
  })
  server.maxHeadersCount = 0
  let closing = false

  const handle = app.callback()
  const connections = new Connections((request, response, connection) => {
    if (corsOrigins !== undefined && admitPages(corsOrigins, request, response)) return
    if (request.rawHeaders.length > 2 * MOST_HEADERS) {
      const message = `a request may have ${MOST_HEADERS} headers`
      return refuseRequest(response, 'HEADERS_TOO_LARGE', message)
    }
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      const message = 'an HTTP/1.1 request needs a Host header'
      return refuseRequest(response, 'INVALID_PARAMS', message)
    }
    if (!readTarget(request)) {
      return refuseRequest(response, 'INVALID_PARAMS', 'the request line has no valid URL')
    }
    response.inFlight = overload?.inFlight
    if (overload?.inFlight.isFull === true && request.method === 'POST') {
      refuseOverload(response, connection.rest())
      return overload.onRefused()
    }
    if (closing) response.setHeader('Connection', 'close')
    handle(request, response).catch(() => request.socket.destroy())
  }, limits)
  server.on('connection', (socket) => connections.open(socket))
  server.on('request', (request, response) =>
    connections.of(request.socket)?.take(request, response),
  )
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('clientError', (error: ClientError, socket) => {
    const response = connections.of(socket)?.underWay.at(-1)
    const unread = () => corsOrigins && pageHeadersUnread(corsOrigins, error.rawPacket)
    if (response === undefined) return refuse(socket, error, unread())
    if (response.headersSent) return void socket.destroy()
    const { req: request } = response
    if (!request.complete) {
      const headers = corsOrigins === undefined ? {} : corsHeaders(corsOrigins, request)
      if (!comesAgain(request)) return refuse(socket, error, headers)
      const message = 'the request did not arrive whole: send it again'
      return refuseConnection(socket, 'SERVICE_UNAVAILABLE', message, headers)
    }
    // The fault follows a valid request on the same connection, which gets its response first.
    response.once('close', () => refuse(socket, error, unread()))
  })
  server.on('connect', (_request, socket) =>
    refuseConnection(socket, 'METHOD_NOT_ALLOWED', 'CONNECT is not served'),
  )
  server.setTimeout(unreadMs, (socket: Socket) => {
    const looked = connections.of(socket)?.closeIfStopped(unreadMs)
    if (looked === undefined) socket.destroy()
    else looked.catch(() => socket.destroy())
  })

  const further = await listen(server, { host, port, handles, variable })
  // Node treats line breaks before a request as activity on the connection.
  const closeIdle = () => connections.closeIdle(idleMs + headersWithinMs)
  const checking = setInterval(closeIdle, Math.min(CHECKED_EVERY_MS, idleMs)).unref()
  return {
    url: `http://${hostInUrl(host)}:${(server.address() as AddressInfo).port}`,
    async close() {
      closing = true
      clearInterval(checking)
      for (const response of connections.last()) {
        if (!response.headersSent) response.setHeader('Connection', 'close')
      }
      const cut = setTimeout(() => server.closeAllConnections(), graceMs)
      await Promise.all(
        [server, ...further].map(
          (one) => new Promise<void>((resolve) => one.close(() => resolve())),
        ),
      )
      clearTimeout(cut)
    },
  }
}

/**
 * Reduces an absolute URL, which a server must also accept (RFC 9112, section 3.2.2), to path and
 * query. False if it is invalid: Koa would log it and Node warn about it, with any key in it.
 */
function readTarget(request: IncomingMessage): boolean {
  const { url = '' } = request
  if (url.startsWith('/') || url === '*') return true
  if (!URL.canParse(url)) return false
  const { pathname, search } = new URL(url)
  request.url = pathname + search
  return true
}

/** Encloses an IPv6 address in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** `rawPacket`: the bytes in which the parser found the fault. */
type ClientError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer }

function refuse(
  socket: Duplex,
  error: ClientError,
  headers?: Readonly<Record<string, string>>,
): void {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const message = 'the headers are larger than 16 KiB'
    return refuseConnection(socket, 'HEADERS_TOO_LARGE', message, headers)
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const message = 'the request did not arrive in time: send it again'
    return refuseConnection(socket, 'REQUEST_TIMEOUT', message, headers)
  }
  refuseConnection(socket, 'INVALID_PARAMS', 'the request is not well-formed HTTP/1.1', headers)
}
