import type { Socket } from 'node:net'
import { clientAddress, clientOf } from './client-address.ts'
import type { HttpAnswer } from './in-flight.ts'

/** A connection of a server, and what its client has asked for on it. */
export type Connection = {
  readonly socket: Socket
  /**
   * Answers in progress, in the order of the requests. Not a `Set`: endless additions and deletions leave
   * hash tables behind, whose answers V8 moves to the old generation.
   */
  readonly underWay: HttpAnswer[]
  /** Begins requests that wait behind those. */
  readonly held: (() => void)[]
  isOpen: boolean
  /** When it was opened, or its last request began or was answered, by `performance.now()`. */
  since: number
  /** The memory that waiting requests and unread answers take. */
  waitingBytes: number
  /** The header of the last request, if proxies are trusted. */
  forwardedFor: string | string[] | undefined
  /** Its client as `clientOf` names it, computed when first needed: 20 µs for IPv6. */
  client: string | undefined
  resting: boolean
  restSeconds: number
  /** Whether data read now was sent before the end of the rest. */
  readsEarly: boolean
}

export function newConnection(socket: Socket): Connection {
  return {
    socket,
    underWay: [],
    held: [],
    isOpen: true,
    since: performance.now(),
    waitingBytes: 0,
    forwardedFor: undefined,
    client: undefined,
    resting: false,
    restSeconds: 0,
    readsEarly: false,
  }
}

/** The connections of each client, beginning with the client whose connections weigh most together. */
export function byClient(
  connections: Iterable<Connection>,
  { trustProxy, weigh }: { trustProxy: number; weigh: (connection: Connection) => number },
): Connection[][] {
  const clients = new Map<string, { weight: number; readonly connections: Connection[] }>()
  for (const connection of connections) {
    connection.client ??= nameOfClient(connection, trustProxy)
    const client = clients.get(connection.client) ?? { weight: 0, connections: [] }
    client.weight += weigh(connection)
    client.connections.push(connection)
    clients.set(connection.client, client)
  }
  const heaviestFirst = [...clients.values()].sort((one, other) => other.weight - one.weight)
  return heaviestFirst.map((client) => client.connections)
}

function nameOfClient({ socket, forwardedFor }: Connection, trustProxy: number): string {
  const headers = { 'x-forwarded-for': forwardedFor }
  return clientOf(clientAddress({ headers, socket }, { trustProxy }))
}

/**
 * The connections on which the server does nothing, those without any request first, then those that wait for
 * their client: for the rest of a request, or to read an answer. The longest idle come first.
 */
export function idleFirst(connections: readonly Connection[]): Connection[] {
  return connections
    .filter(({ underWay }) => underWay.every(waitsForClient))
    .sort((one, other) => {
      const without = Number(other.underWay.length === 0) - Number(one.underWay.length === 0)
      return without || one.since - other.since
    })
}

function waitsForClient({ req, writableEnded, unreadBytes }: HttpAnswer): boolean {
  return !req.complete || writableEnded || unreadBytes > 0
}
