import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  Connection,
  type Begin,
  type ConnectionLimits,
  type ConnectionOwner,
} from './connection.ts'
import type { HttpAnswer } from './in-flight.ts'

const LIMITS: ConnectionLimits = {
  atOnce: 16,
  mostConnections: 10_000,
  mostWaitingBytes: 64 * 1024 * 1024,
  trustProxy: 0,
  wait: (seconds, end) => void setTimeout(end, seconds * 1_000).unref(),
}
/** The fraction of connections closed to make room for others. */
const CLOSED_AT_ONCE = 1 / 100
/** The fraction of the waiting bytes that remains once they are too many. */
const KEPT_WAITING = 3 / 4

/** The open connections of a server. No client can use up all connections or all memory. */
export class Connections implements ConnectionOwner {
  readonly begin: Begin
  readonly limits: ConnectionLimits
  readonly #connections = new Map<Duplex, Connection>()
  #waitingBytes = 0

  constructor(begin: Begin, limits: Partial<ConnectionLimits>) {
    this.begin = begin
    this.limits = { ...LIMITS, ...limits }
  }

  of(socket: Duplex): Connection | undefined {
    return this.#connections.get(socket)
  }

  /**
   * Takes a new connection, or closes it if there is no room: then the server is working on all
   * others.
   */
  open(socket: Socket): void {
    const isFull = this.#connections.size >= this.limits.mostConnections
    if (isFull && !this.#makeRoom()) return void socket.destroy()
    this.#connections.set(socket, new Connection(socket, this))
  }

  remove({ socket, waitingBytes }: Connection): void {
    this.#waitingBytes -= waitingBytes
    this.#connections.delete(socket)
  }

  countWaiting(bytes: number): void {
    this.#waitingBytes += bytes
    if (bytes > 0 && this.#waitingBytes > this.limits.mostWaitingBytes) this.#freeMemory()
  }

  /** Closes connections on which no request has started for this time. */
  closeIdle(idleMs: number): void {
    const before = performance.now() - idleMs
    for (const { underWay, since, socket } of this.#connections.values()) {
      if (underWay.length === 0 && since < before) socket.destroy()
    }
  }

  /** The last response in progress on each connection. */
  last(): HttpAnswer[] {
    return [...this.#connections.values()].flatMap(({ underWay }) => underWay.slice(-1))
  }

  /**
   * False if no connection can be closed. Closes several at a time, because the search takes
   * milliseconds.
   */
  #makeRoom(): boolean {
    const most = Math.ceil(CLOSED_AT_ONCE * this.limits.mostConnections)
    for (const ofClient of this.#byClient(() => 1)) {
      const idle = idleFirst(ofClient).slice(0, most)
      for (const connection of idle) connection.close()
      if (idle.length > 0) return true
    }
    return false
  }

  #freeMemory(): void {
    const weigh = ({ waitingBytes }: Connection) => waitingBytes
    for (const ofClient of this.#byClient(weigh)) {
      for (const connection of ofClient.sort((one, other) => weigh(other) - weigh(one))) {
        if (this.#waitingBytes <= KEPT_WAITING * this.limits.mostWaitingBytes) return
        connection.close()
      }
    }
  }

  /**
   * The connections of each client, starting with the client whose connections weigh most in total.
   */
  #byClient(weigh: (connection: Connection) => number): Connection[][] {
    const clients = new Map<string, { weight: number; readonly connections: Connection[] }>()
    for (const connection of this.#connections.values()) {
      const client = clients.get(connection.client) ?? { weight: 0, connections: [] }
      client.weight += weigh(connection)
      client.connections.push(connection)
      clients.set(connection.client, client)
    }
    const heaviestFirst = [...clients.values()].sort((one, other) => other.weight - one.weight)
    return heaviestFirst.map((client) => client.connections)
  }
}

/**
 * Sorts the connections on which the server does nothing: first those without any request, then
 * those waiting for their client to send the rest of a request or to read a response; within each
 * group the longest idle first.
 */
function idleFirst(connections: readonly Connection[]): Connection[] {
  return connections
    .filter(({ isAtWork }) => !isAtWork)
    .sort((one, other) => {
      const without = Number(other.underWay.length === 0) - Number(one.underWay.length === 0)
      return without || one.since - other.since
    })
}
