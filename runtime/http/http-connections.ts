import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Connection } from './client-connection.ts'
import type { HttpAnswer } from './in-flight.ts'
import { retryAfterSeconds } from '../errors.ts'
import { OpenConnections, type OpenLimits } from './open-connections.ts'

/** Requests of one connection that are handled concurrently unless a server says otherwise; further ones wait. */
const AT_ONCE = 16
/** The memory of a request that came before the answer to the one before it was read. */
const REQUEST_BYTES = 8 * 1024
const LONGEST_REST_SECONDS = 8

export type ConnectionLimits = OpenLimits & {
  /** Requests of one connection that are handled concurrently. */
  readonly atOnce?: number | undefined
  /** Ends the rests of refused clients' connections; a test does so itself. */
  readonly wait?: Rests | undefined
}

/** Calls `end` after this number of seconds, from a timer. */
export type Rests = (seconds: number, end: () => void) => void

/**
 * Handles a few requests of each connection concurrently. While others wait, the connection is not read, so
 * further pipelined requests stay with the client.
 */
export class HttpConnections {
  readonly #open: OpenConnections
  readonly #begin: (request: IncomingMessage, response: HttpAnswer) => void
  readonly #atOnce: number
  readonly #trustsProxy: boolean
  readonly #wait: Rests

  constructor(
    begin: (request: IncomingMessage, response: HttpAnswer) => void,
    { atOnce = AT_ONCE, wait = waitFor, ...limits }: ConnectionLimits = {},
  ) {
    this.#begin = begin
    this.#open = new OpenConnections(limits)
    this.#atOnce = atOnce
    this.#trustsProxy = (limits.trustProxy ?? 0) > 0
    this.#wait = wait
  }

  /** Takes a new connection, or closes it if there is no room. */
  open(socket: Socket): void {
    const connection = this.#open.add(socket)
    if (connection === undefined) return void socket.destroy()
    // Node ends each unanswered request of a closed connection with an error. One chunk can hold a thousand
    // requests, and the stack traces of many such connections took a minute of CPU time.
    let { stackTraceLimit } = Error
    socket.prependOnceListener('close', () => {
      stackTraceLimit = Error.stackTraceLimit
      Error.stackTraceLimit = 0
    })
    socket.once('close', () => {
      this.#open.remove(connection)
      connection.held.length = 0
      for (const response of connection.underWay.splice(0)) closeWaiting(response)
      Error.stackTraceLimit = stackTraceLimit
    })
    // Node's server resumes a connection whenever one of its requests has been read.
    socket.on('resume', () => {
      if (connection.held.length > 0 || connection.resting) socket.pause()
    })
  }

  take(request: IncomingMessage, response: HttpAnswer): void {
    const { socket } = request
    const connection = this.#open.of(socket)
    if (connection === undefined) return
    const { underWay, held } = connection
    if (this.#trustsProxy) noteClient(connection, request)
    response.onUnread = this.#noteUnread
    const begin = () => {
      underWay.push(response)
      connection.since = performance.now()
      response.once('close', () => this.#end(response, connection))
      this.#begin(request, response)
    }
    // One chunk can hold thousands of requests, and they wait for ever if the client reads no answers.
    if (underWay.length > 0) this.#open.wait(connection, REQUEST_BYTES)
    if (!connection.isOpen) return
    if (underWay.length < this.#atOnce) return begin()
    held.push(begin)
    socket.pause()
  }

  /**
   * Stops reading a connection for a while, so that its client cannot flood the server. Returns the
   * number of seconds: twice as many as the last time if the client sent more before their end.
   */
  rest(socket: Socket): number {
    const afresh = Number(retryAfterSeconds())
    const connection = this.#open.of(socket)
    if (connection === undefined) return afresh
    if (connection.resting) return connection.restSeconds
    const { readsEarly, restSeconds } = connection
    connection.restSeconds = readsEarly ? Math.min(2 * restSeconds, LONGEST_REST_SECONDS) : afresh
    connection.resting = true
    socket.pause()
    this.#wait(connection.restSeconds, () => {
      connection.resting = false
      if (connection.held.length > 0) return
      socket.resume()
      // Data that has arrived by now is read before the turn ends.
      connection.readsEarly = true
      setImmediate(() => (connection.readsEarly = false))
    })
    return connection.restSeconds
  }

  /** Closes the connections on which no request has begun for this time. */
  closeIdle(idleMs: number): void {
    this.#open.closeIdle(idleMs)
  }

  /** The answers in progress on a connection. */
  underWay(socket: Duplex): readonly HttpAnswer[] {
    return this.#open.of(socket)?.underWay ?? []
  }

  /** The last answer in progress on each connection. */
  last(): HttpAnswer[] {
    return [...this.#open.all()].flatMap(({ underWay }) => underWay.slice(-1))
  }

  #end(response: HttpAnswer, connection: Connection): void {
    // It may be incomplete.
    response.giveUpPlace()
    const { underWay, held, socket } = connection
    remove(response, underWay)
    connection.since = performance.now()
    this.#open.wait(connection, -response.unreadBytes)
    if (underWay.length + held.length > 0) this.#open.wait(connection, -REQUEST_BYTES)
    if (held.length === 0) return
    while (underWay.length < this.#atOnce) {
      const begin = held.shift()
      if (begin === undefined) break
      begin()
    }
    if (held.length === 0 && !connection.resting) socket.resume()
  }

  readonly #noteUnread = (response: HttpAnswer, bytes: number): void => {
    const connection = this.#open.of(response.req.socket)
    if (connection === undefined) return
    const more = bytes - response.unreadBytes
    response.unreadBytes = bytes
    this.#open.wait(connection, more)
  }
}

function noteClient(connection: Connection, { headers }: IncomingMessage): void {
  const { 'x-forwarded-for': forwardedFor } = headers
  if (forwardedFor === connection.forwardedFor) return
  connection.forwardedFor = forwardedFor
  connection.client = undefined
}

function waitFor(seconds: number, end: () => void): void {
  setTimeout(end, seconds * 1_000).unref()
}

/**
 * Closes an answer that waits behind the one that was being sent: Node does not, and files that it has opened
 * would stay open.
 */
function closeWaiting(response: HttpAnswer): void {
  if (response.socket !== null) return
  response.destroy()
  response.emit('close')
}

/** Nearly always it is the only one. */
function remove(response: HttpAnswer, underWay: HttpAnswer[]): void {
  const at = underWay.indexOf(response)
  if (at === 0) underWay.shift()
  else if (at > 0) underWay.splice(at, 1)
}
