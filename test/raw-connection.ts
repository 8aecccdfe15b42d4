import { connect, type Socket } from 'node:net'

export type RawConnection = {
  readonly socket: Socket
  /** Everything that the server has sent so far. */
  readonly received: () => string
  /** Resolves when the connection is closed, by either end or an error. */
  readonly closed: Promise<void>
}

/** A connection to a server for writing raw HTTP, starting with `text`. */
export function rawConnection(url: string, text = ''): RawConnection {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname, () => socket.write(text))
  let received = ''
  socket.on('data', (chunk) => (received += chunk.toString()))
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  return { socket, received: () => received, closed }
}
