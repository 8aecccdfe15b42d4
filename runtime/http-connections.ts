import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Requests of one connection that are handled at once; further ones wait. */
const AT_ONCE = 16

type Connection = {
  /** Answers in progress, in the order of the requests. */
  readonly underWay: Set<ServerResponse>
  readonly held: (() => void)[]
}

/**
 * Handles at most 16 requests of each connection at once. While others wait, the connection is not
 * read, so further pipelined requests stay with the client.
 */
export class HttpConnections {
  readonly #connections = new Map<Duplex, Connection>()
  readonly #begin: (request: IncomingMessage, response: ServerResponse) => void

  constructor(begin: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#begin = begin
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const connection = this.#connections.get(socket) ?? this.#open(socket)
    const { underWay, held } = connection
    const begin = () => {
      underWay.add(response)
      response.once('close', () => {
        underWay.delete(response)
        beginHeld(connection, socket)
      })
      this.#begin(request, response)
    }
    if (underWay.size < AT_ONCE) return begin()
    held.push(begin)
    socket.pause()
  }

  /** The answers in progress on a connection. */
  underWay(socket: Duplex): readonly ServerResponse[] {
    return [...(this.#connections.get(socket)?.underWay ?? [])]
  }

  /** The last answer in progress on each connection. */
  last(): ServerResponse[] {
    return [...this.#connections.values()].flatMap(({ underWay }) => [...underWay].slice(-1))
  }

  #open(socket: Socket): Connection {
    const connection: Connection = { underWay: new Set(), held: [] }
    this.#connections.set(socket, connection)
    socket.once('close', () => {
      connection.held.length = 0
      this.#connections.delete(socket)
    })
    // Node's server resumes a connection whenever one of its requests has been read.
    socket.on('resume', () => {
      if (connection.held.length > 0) socket.pause()
    })
    return connection
  }
}

function beginHeld({ underWay, held }: Connection, socket: Socket): void {
  if (held.length === 0) return
  while (underWay.size < AT_ONCE) {
    const begin = held.shift()
    if (begin === undefined) break
    begin()
  }
  if (held.length === 0) socket.resume()
}
