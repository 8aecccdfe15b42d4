import { randomUUID } from 'node:crypto'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type Koa from 'koa'
import { ApiError, ERRORS, type ErrorIdentifier } from './errors.ts'
import { errorEnvelope } from './http.ts'

export type HttpServer = {
  readonly url: string
  /**
   * Takes no new connection, answers every request that has arrived, then ends. Connections that
   * are not done after `graceMs` (a body half sent) are cut.
   */
  close(): Promise<void>
}

/**
 * Serves a Koa app with limits that a slow or hostile client cannot stretch, and the error envelope
 * also for what never reaches the app: requests the HTTP parser refuses.
 */
export async function serveHttp({
  app,
  host,
  port,
  graceMs,
}: {
  app: Koa
  host: string
  port: number
  graceMs: number
}): Promise<HttpServer> {
  const server = createServer({
    headersTimeout: 10_000,
    requestTimeout: 15_000,
    connectionsCheckingInterval: 2_000,
    keepAliveTimeout: 70_000,
    // Checked below instead, so that its refusal comes in the envelope too.
    requireHostHeader: false,
  })
  server.maxHeadersCount = 100
  server.maxConnections = 10_000
  const inFlight = new Map<Duplex, ServerResponse>()
  let closing = false

  const handle = app.callback()
  server.on('request', (request, response) => {
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      return write(request.socket, 'INVALID_PARAMS', 'an HTTP/1.1 request needs a Host header')
    }
    inFlight.set(request.socket, response)
    response.once('close', () => inFlight.delete(request.socket))
    if (closing) response.setHeader('Connection', 'close')
    handle(request, response).catch(() => request.socket.destroy())
  })
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = inFlight.get(socket)
    if (response === undefined) return refuse(socket, error)
    if (response.headersSent) return void socket.destroy()
    if (!response.req.complete) return refuse(socket, error)
    // The fault is in what follows a good request on the same connection: that one is answered first.
    response.once('close', () => refuse(socket, error))
  })
  server.on('connect', (_request, socket) =>
    write(socket, 'METHOD_NOT_ALLOWED', 'CONNECT is not served'),
  )

  await listen(server, host, port)
  return {
    url: `http://${hostInUrl(host)}:${(server.address() as AddressInfo).port}`,
    async close() {
      closing = true
      for (const response of inFlight.values()) {
        if (!response.headersSent) response.setHeader('Connection', 'close')
      }
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      const cut = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearTimeout(cut)
    },
  }
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE'
      reject(taken ? new Error(`port ${port} of ${host} is in use: choose another one`) : error)
    })
    server.listen({ host, port, backlog: 1024 }, resolve)
  })
}

function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function refuse(socket: Duplex, error: NodeJS.ErrnoException): void {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return write(socket, 'HEADERS_TOO_LARGE', 'the headers are larger than 16 KiB')
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return write(socket, 'REQUEST_TIMEOUT', 'the request did not arrive in time: send it again')
  }
  write(socket, 'INVALID_PARAMS', 'the request is not well-formed HTTP/1.1')
}

/** Answers on the bare socket, then lets the client read before the connection goes. */
function write(socket: Duplex, identifier: ErrorIdentifier, message: string): void {
  if (!socket.writable) return void socket.destroy()
  const status = ERRORS[identifier]
  const body = JSON.stringify(errorEnvelope(new ApiError(identifier, message)))
  socket.end(
    [
      `HTTP/1.1 ${status} ${identifier}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${randomUUID()}`,
      'Connection: close',
      ...(identifier === 'METHOD_NOT_ALLOWED' ? ['Allow: GET, HEAD, POST'] : []),
      '',
      body,
    ].join('\r\n'),
  )
  socket.on('error', () => undefined)
  socket.resume()
  if ('setTimeout' in socket) (socket as Socket).setTimeout(1_000, () => socket.destroy())
}
