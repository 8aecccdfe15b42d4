import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { HttpAnswer } from './http-answer.ts'
import { retryAfterSeconds } from './errors.ts'

/** Requests of one connection that are handled concurrently unless a server says otherwise; further ones wait. */
const AT_ONCE = 16
/** Requests that wait behind those, of all connections together. */
const HELD_IN_ALL = 5_000
const LONGEST_REST_SECONDS = 8

type Connection = {
  /**
   * Answers in progress, in the order of the requests. Not a `Set`: with endless additions and deletions
   * it leaves tables behind whose answers V8 moves to the old generation.
   */
  readonly underWay: HttpAnswer[]
  readonly held: (() => void)[]
  resting: boolean
  restSeconds: number
  /** Whether data read now was sent before the end of the rest. */
  readsEarly: boolean
}

/**
 * Handles a few requests of each connection concurrently. While others wait, the connection is not read, so
 * further pipelined requests stay with the client.
 */
export class HttpConnections {
  readonly #connections = new Map<Duplex, Connection>()
  #heldInAll = 0
  readonly #begin: (request: IncomingMessage, response: HttpAnswer) => void

  readonly #secondMs: number
  readonly #atOnce: number

  /**
   * @param options.secondMs the length of a second of a rest; shorter in tests.
   * @param options.atOnce the requests of a connection that are handled concurrently.
   */
  constructor(
    begin: (request: IncomingMessage, response: HttpAnswer) => void,
    { secondMs = 1_000, atOnce = AT_ONCE }: { secondMs?: number; atOnce?: number | undefined } = {},
  ) {
    this.#begin = begin
    this.#secondMs = secondMs
    this.#atOnce = atOnce
  }

  take(request: IncomingMessage, response: HttpAnswer): void {
    const { socket } = request
    const connection = this.#connections.get(socket) ?? this.#open(socket)
    const { underWay, held } = connection
    const begin = () => {
      underWay.push(response)
      response.once('close', () => {
        // It may be incomplete.
        response.giveUpPlace()
        remove(response, underWay)
        this.#beginHeld(connection, socket)
      })
      this.#begin(request, response)
    }
    if (underWay.length < this.#atOnce) return begin()
    // One chunk can hold thousands of requests, and they wait for ever if the client reads no answers.
    if (this.#heldInAll >= HELD_IN_ALL) return void socket.destroy()
    this.#heldInAll += 1
    held.push(begin)
    socket.pause()
  }

  /**
   * Stops reading a connection for a while, so that its client cannot flood the server. Returns the
   * number of seconds: twice as many as the last time if the client sent more before their end.
   */
  rest(socket: Socket): number {
    const afresh = Number(retryAfterSeconds())
    const connection = this.#connections.get(socket)
    if (connection === undefined) return afresh
    if (connection.resting) return connection.restSeconds
    const { readsEarly, restSeconds } = connection
    connection.restSeconds = readsEarly ? Math.min(2 * restSeconds, LONGEST_REST_SECONDS) : afresh
    connection.resting = true
    socket.pause()
    setTimeout(() => {
      connection.resting = false
      if (connection.held.length > 0) return
      socket.resume()
      // Data that has arrived by now is read before the turn ends.
      connection.readsEarly = true
      setImmediate(() => (connection.readsEarly = false))
    }, connection.restSeconds * this.#secondMs).unref()
    return connection.restSeconds
  }

  /** The answers in progress on a connection. */
  underWay(socket: Duplex): readonly HttpAnswer[] {
    return this.#connections.get(socket)?.underWay ?? []
  }

  /** The last answer in progress on each connection. */
  last(): HttpAnswer[] {
    return [...this.#connections.values()].flatMap(({ underWay }) => underWay.slice(-1))
  }

  #open(socket: Socket): Connection {
    const connection: Connection = {
      underWay: [],
      held: [],
      resting: false,
      restSeconds: 0,
      readsEarly: false,
    }
    this.#connections.set(socket, connection)
    // Node ends each unanswered request of a closed connection with an error. One chunk can hold a thousand
    // requests, and the stack traces of many such connections took a minute of CPU time.
    let { stackTraceLimit } = Error
    socket.prependOnceListener('close', () => {
      stackTraceLimit = Error.stackTraceLimit
      Error.stackTraceLimit = 0
    })
    socket.once('close', () => {
      this.#connections.delete(socket)
      this.#heldInAll -= connection.held.length
      connection.held.length = 0
      for (const response of connection.underWay.splice(0)) closeWaiting(response)
      Error.stackTraceLimit = stackTraceLimit
    })
    // Node's server resumes a connection whenever one of its requests has been read.
    socket.on('resume', () => {
      if (connection.held.length > 0 || connection.resting) socket.pause()
    })
    return connection
  }

  #beginHeld({ underWay, held, resting }: Connection, socket: Socket): void {
    if (held.length === 0) return
    while (underWay.length < this.#atOnce) {
      const begin = held.shift()
      if (begin === undefined) break
      this.#heldInAll -= 1
      begin()
    }
    if (held.length === 0 && !resting) socket.resume()
  }
}

/**
 * Closes an answer that waits behind the one that was being sent: Node does not, and whatever it has opened
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
