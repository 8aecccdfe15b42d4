import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { byClient, idleFirst, newConnection, type Connection } from './client-connection.ts'

const MOST_CONNECTIONS = 10_000
/** The share of the connections that is closed to make room for others. */
const CLOSED_AT_ONCE = 1 / 100
const MOST_WAITING_BYTES = 64 * 1024 * 1024
/** The share of it that stays once it is exceeded. */
const KEPT_WAITING = 3 / 4

export type OpenLimits = {
  /** Beyond it, the client that has most connections loses some on which nothing happens. */
  readonly mostConnections?: number | undefined
  /** Beyond it, the client for which most bytes wait loses its connections. */
  readonly mostWaitingBytes?: number | undefined
  /** The number of proxies to trust for X-Forwarded-For when connections are grouped by client. */
  readonly trustProxy?: number | undefined
}

/** The open connections of a server. No client can use up all connections or all memory. */
export class OpenConnections {
  readonly #connections = new Map<Duplex, Connection>()
  readonly #mostConnections: number
  readonly #mostWaitingBytes: number
  readonly #trustProxy: number
  #waitingBytes = 0

  constructor({
    mostConnections = MOST_CONNECTIONS,
    mostWaitingBytes = MOST_WAITING_BYTES,
    trustProxy = 0,
  }: OpenLimits) {
    this.#mostConnections = mostConnections
    this.#mostWaitingBytes = mostWaitingBytes
    this.#trustProxy = trustProxy
  }

  all(): Iterable<Connection> {
    return this.#connections.values()
  }

  of(socket: Duplex): Connection | undefined {
    return this.#connections.get(socket)
  }

  /** Undefined if there is no room: then the server is at work on all connections. */
  add(socket: Socket): Connection | undefined {
    if (this.#connections.size >= this.#mostConnections && !this.#makeRoom()) return undefined
    const connection = newConnection(socket)
    this.#connections.set(socket, connection)
    return connection
  }

  /** Counts memory that waits for the client of a connection. Closes connections if that is too much. */
  wait(connection: Connection, bytes: number): void {
    if (bytes === 0 || !connection.isOpen) return
    connection.waitingBytes += bytes
    this.#waitingBytes += bytes
    if (bytes > 0 && this.#waitingBytes > this.#mostWaitingBytes) this.#freeMemory()
  }

  /** Closes those on which no request has begun for this time. */
  closeIdle(idleMs: number): void {
    const before = performance.now() - idleMs
    for (const { underWay, since, socket } of this.all()) {
      if (underWay.length === 0 && since < before) socket.destroy()
    }
  }

  remove(connection: Connection): void {
    if (!connection.isOpen) return
    connection.isOpen = false
    this.#waitingBytes -= connection.waitingBytes
    this.#connections.delete(connection.socket)
  }

  /** False if no connection can be closed. Several at a time, because the search takes milliseconds. */
  #makeRoom(): boolean {
    const most = Math.ceil(CLOSED_AT_ONCE * this.#mostConnections)
    for (const ofClient of this.#byClient(() => 1)) {
      const idle = idleFirst(ofClient).slice(0, most)
      for (const connection of idle) this.#close(connection)
      if (idle.length > 0) return true
    }
    return false
  }

  #freeMemory(): void {
    const weigh = ({ waitingBytes }: Connection) => waitingBytes
    for (const ofClient of this.#byClient(weigh)) {
      for (const connection of ofClient.sort((one, other) => weigh(other) - weigh(one))) {
        if (this.#waitingBytes <= KEPT_WAITING * this.#mostWaitingBytes) return
        this.#close(connection)
      }
    }
  }

  #byClient(weigh: (connection: Connection) => number): Connection[][] {
    return byClient(this.all(), { trustProxy: this.#trustProxy, weigh })
  }

  #close(connection: Connection): void {
    this.remove(connection)
    connection.socket.destroy()
  }
}
