import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { retryAfterSeconds } from '../errors.ts'
import { clientAddress, clientOf } from './client-address.ts'
import type { HttpAnswer } from './in-flight.ts'
import { ReadingClient } from './reading-client.ts'

/** The memory of a request that arrived before the previous response was read. */
const REQUEST_BYTES = 8 * 1024
const LONGEST_REST_SECONDS = 8
/**
 * The second check of a client that reads nothing follows after this time: less than 45 s in total,
 * even on a busy machine.
 */
const LOOKS_AGAIN_MS = 2_500

/** Starts the work on a request. */
export type Begin = (request: IncomingMessage, response: HttpAnswer, connection: Connection) => void

/** Calls `end` after this number of seconds, from a timer. */
export type Rests = (seconds: number, end: () => void) => void

export type ConnectionLimits = {
  /** Requests of one connection that are handled concurrently; further ones wait. */
  readonly atOnce: number
  /** Above this number, the client with the most connections loses idle ones. */
  readonly mostConnections: number
  /** Above this number, the client with the most waiting bytes loses its connections. */
  readonly mostWaitingBytes: number
  /** The number of proxies to trust for X-Forwarded-For when connections are grouped by client. */
  readonly trustProxy: number
  /** Ends the time left to refused clients' connections; tests call it themselves. */
  readonly wait: Rests
}

/** The server's side of its connections. */
export type ConnectionOwner = {
  readonly begin: Begin
  readonly limits: ConnectionLimits
  /** Counts memory that waits for clients. Closes connections if that is too much. */
  countWaiting(bytes: number): void
  remove(connection: Connection): void
}

/**
 * A connection of a server, with its client's requests. A few of them are handled concurrently.
 * While others wait, the connection is not read, so further pipelined requests remain with the
 * client.
 */
export class Connection {
  readonly socket: Socket
  /**
   * Responses in progress, in the order of the requests. Not a `Set`: endless additions and
   * deletions leave hash tables behind, whose responses V8 moves to the old generation.
   */
  readonly underWay: HttpAnswer[] = []
  /**
   * When it was opened, or its last request started or was answered, on the clock of
   * `performance.now()`.
   */
  since = performance.now()
  /** The memory taken by waiting requests and unread responses. */
  waitingBytes = 0
  readonly #owner: ConnectionOwner
  readonly #client: ReadingClient
  /** Starts requests that wait behind those in progress. */
  readonly #held: (() => void)[] = []
  #isOpen = true
  /** The header of the last request, if proxies are trusted. */
  #forwardedFor: string | string[] | undefined
  #clientName: string | undefined
  #isResting = false
  #restSeconds = 0
  /** Whether data read now was sent before the end of the rest. */
  #readsEarly = false

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.socket = socket
    this.#owner = owner
    this.#client = new ReadingClient(socket)
    // Node ends each unanswered request of a closed connection with an error. One chunk can hold a
    // thousand requests, and the stack traces of many such connections took a minute of CPU time.
    let { stackTraceLimit } = Error
    socket.prependOnceListener('close', () => {
      stackTraceLimit = Error.stackTraceLimit
      Error.stackTraceLimit = 0
    })
    socket.once('close', () => {
      this.#leave()
      this.#held.length = 0
      for (const response of this.underWay.splice(0)) closeWaiting(response)
      Error.stackTraceLimit = stackTraceLimit
    })
    // Node's server resumes a connection whenever one of its requests has been read.
    socket.on('resume', () => {
      if (this.#held.length > 0 || this.#isResting) socket.pause()
    })
  }

  /** The connection's client (see `clientOf`), computed on first use: 20 µs for IPv6. */
  get client(): string {
    const headers = { 'x-forwarded-for': this.#forwardedFor }
    const { trustProxy } = this.#owner.limits
    this.#clientName ??= clientOf(clientAddress({ headers, socket: this.socket }, { trustProxy }))
    return this.#clientName
  }

  /**
   * Whether the server is working on a request, rather than waiting for the client to send or read
   * the rest.
   */
  get isAtWork(): boolean {
    return this.underWay.some(
      ({ req, writableEnded, unreadBytes }) => req.complete && !writableEnded && unreadBytes === 0,
    )
  }

  take(request: IncomingMessage, response: HttpAnswer): void {
    if (!this.#isOpen) return
    if (this.#owner.limits.trustProxy > 0) this.#noteClient(request)
    response.onUnread = this.#noteUnread
    // One chunk can hold thousands of requests, which wait forever if the client reads no
    // responses.
    if (this.underWay.length > 0) this.#countWaiting(REQUEST_BYTES)
    if (!this.#isOpen) return
    if (this.underWay.length < this.#owner.limits.atOnce) return this.#begin(request, response)
    this.#held.push(() => this.#begin(request, response))
    this.socket.pause()
  }

  /**
   * Pauses reading, so that its client cannot flood the server. Returns the number of seconds:
   * twice as many as the last time if the client sent more before the pause ended.
   */
  rest(): number {
    if (this.#isResting) return this.#restSeconds
    this.#restSeconds = this.#readsEarly
      ? Math.min(2 * this.#restSeconds, LONGEST_REST_SECONDS)
      : Number(retryAfterSeconds())
    this.#isResting = true
    this.socket.pause()
    this.#owner.limits.wait(this.#restSeconds, () => {
      this.#isResting = false
      if (this.#held.length > 0) return
      this.socket.resume()
      // Data that has arrived by now is read before the turn ends.
      this.#readsEarly = true
      setImmediate(() => (this.#readsEarly = false))
    })
    return this.#restSeconds
  }

  /**
   * Call when nothing has moved for this time: closes the connection unless the server is working,
   * or its client is reading after all.
   */
  async closeIfStopped(unreadMs: number): Promise<void> {
    const [answer] = this.underWay
    if (answer === undefined) return void this.socket.destroy()
    // The live stream has its own rules for slow readers.
    const isStream = answer.getHeader('content-type') === 'text/event-stream'
    const isUnread = this.socket.writableLength > 0 && !isStream
    // The response has not started yet, or its client may read too slowly to be visible here: check
    // again later.
    this.socket.setTimeout(isUnread ? Math.min(unreadMs / 2, LOOKS_AGAIN_MS) : unreadMs)
    if (isUnread && (await this.#client.hasStopped())) this.socket.destroy()
  }

  close(): void {
    this.#leave()
    this.socket.destroy()
  }

  #begin(request: IncomingMessage, response: HttpAnswer): void {
    this.underWay.push(response)
    this.since = performance.now()
    response.once('close', () => this.#end(response))
    this.#owner.begin(request, response, this)
  }

  #end(response: HttpAnswer): void {
    // It may be incomplete.
    response.giveUpPlace()
    // There is nearly always only one.
    const at = this.underWay.indexOf(response)
    if (at === 0) this.underWay.shift()
    else if (at > 0) this.underWay.splice(at, 1)
    this.since = performance.now()
    this.#countWaiting(-response.unreadBytes)
    if (this.underWay.length + this.#held.length > 0) this.#countWaiting(-REQUEST_BYTES)
    if (this.#held.length === 0) return
    while (this.underWay.length < this.#owner.limits.atOnce) {
      const begin = this.#held.shift()
      if (begin === undefined) break
      begin()
    }
    if (this.#held.length === 0 && !this.#isResting) this.socket.resume()
  }

  #noteClient({ headers }: IncomingMessage): void {
    const { 'x-forwarded-for': forwardedFor } = headers
    if (forwardedFor === this.#forwardedFor) return
    this.#forwardedFor = forwardedFor
    this.#clientName = undefined
  }

  readonly #noteUnread = (response: HttpAnswer, bytes: number): void => {
    const more = bytes - response.unreadBytes
    response.unreadBytes = bytes
    this.#countWaiting(more)
  }

  #countWaiting(bytes: number): void {
    if (bytes === 0 || !this.#isOpen) return
    this.waitingBytes += bytes
    this.#owner.countWaiting(bytes)
  }

  #leave(): void {
    if (this.#isOpen) this.#owner.remove(this)
    this.#isOpen = false
  }
}

/**
 * Closes a response that waits behind the one being sent: Node does not, and files it has opened
 * would stay open.
 */
function closeWaiting(response: HttpAnswer): void {
  if (response.socket !== null) return
  response.destroy()
  response.emit('close')
}
