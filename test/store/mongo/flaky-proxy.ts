import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net'

/** A proxy to a server that can fail like a network. */
export type FlakyProxy = {
  /** The given URL with the proxy instead of the server. */
  readonly url: string
  /** From now on, for the connections that are open too. */
  become(mode: Mode): Promise<void>
  /** A request that holds this text never arrives: its connection breaks. */
  loseRequestsWith(text: string | undefined): void
  /**
   * Holds back a request with this text and all that follow it, whether its client stays or not.
   */
  holdRequestsWith(text: string): void
  holds(): boolean
  /** Is shown every piece of a request as it comes. */
  watch(watcher: (bytes: Buffer) => void): void
  /**
   * Sends the held requests to the server; resolves when it has responded. The responses never arrive.
   */
  release(): Promise<void>
  close(): Promise<void>
}

/**
 * `refuse`: nobody listens. `silent`: connections stay, and no byte passes. `deaf`: requests reach
 * the server, and then the connection breaks instead of the response.
 */
export type Mode = 'pass' | 'refuse' | 'silent' | 'deaf'

export async function flakyProxy(serverUrl: string): Promise<FlakyProxy> {
  const { hostname, port: serverPort } = new URL(serverUrl)
  const sockets = new Set<Socket>()
  let mode: Mode = 'pass'
  let lost: string | undefined
  let watcher: ((bytes: Buffer) => void) | undefined
  let holding: string | undefined
  const held = new Map<Socket, Buffer[]>()
  let port = 0
  let server: Server | undefined

  function open(): Promise<void> {
    const opening = createServer((client) => {
      const upstream = connect(Number(serverPort), hostname)
      for (const [socket, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        sockets.add(socket)
        socket.on('error', () => undefined)
        socket.on('close', () => {
          sockets.delete(socket)
          if (!held.has(other)) other.destroy()
        })
      }
      client.on('data', (bytes) => {
        watcher?.(bytes)
        const waiting = held.get(upstream)
        if (waiting !== undefined) waiting.push(bytes)
        else if (holding !== undefined && bytes.includes(holding)) held.set(upstream, [bytes])
        else if (lost !== undefined && bytes.includes(lost)) client.destroy()
        else if (mode !== 'silent') upstream.write(bytes)
      })
      upstream.on('data', (bytes) => {
        if (held.has(upstream)) return
        if (mode === 'pass') client.write(bytes)
        if (mode === 'deaf') client.destroy()
      })
    })
    server = opening
    return new Promise((resolve) => {
      opening.listen(port, '127.0.0.1', () => {
        port = (opening.address() as AddressInfo).port
        resolve()
      })
    })
  }

  async function refuse(): Promise<void> {
    const closing = server
    server = undefined
    const closed = new Promise<void>((resolve) => {
      if (closing === undefined) resolve()
      else closing.close(() => resolve())
    })
    for (const socket of sockets) socket.destroy()
    await closed
  }

  await open()
  const url = new URL(serverUrl)
  url.host = `127.0.0.1:${port}`
  return {
    url: url.href,
    async become(next) {
      mode = next
      if (next === 'refuse') await refuse()
      else if (server === undefined) await open()
    },
    loseRequestsWith(text) {
      lost = text
    },
    holdRequestsWith(text) {
      holding = text
    },
    watch(next) {
      watcher = next
    },
    holds: () => held.size > 0,
    async release() {
      holding = undefined
      const answers = Array.from(held, ([upstream, requests]) => {
        upstream.write(Buffer.concat(requests))
        return new Promise((resolve) => upstream.once('data', resolve))
      })
      await Promise.all(answers)
    },
    close: refuse,
  }
}
