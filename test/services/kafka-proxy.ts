import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A proxy between clients and a broker that advertises it; parses just enough of the protocol. */
export type KafkaProxy = {
  readonly port: number
  /** The forwarding target; set before the first client connects. */
  forwardTo(port: number): void
  /**
   * From now on, one of every `every` produce requests loses its response: the broker processes the
   * request, but the client's connection closes without the response.
   */
  loseAnswers(options: { every: number; times: number }): void
  /**
   * The next requests of that kind (Kafka's API key) close the connection and never reach the
   * broker.
   */
  swallow(api: number, times: number): void
  /** The number of lost responses. */
  lost(): number
  /** Drops all bytes without closing connections, like a network black hole. */
  freeze(): void
  thaw(): void
  close(): Promise<void>
}

const PRODUCE = 0

export async function kafkaProxy(): Promise<KafkaProxy> {
  const sockets = new Set<Socket>()
  let target = 0
  let every = 0
  let left = 0
  let seen = 0
  let lost = 0
  let frozen = false
  const swallowed = { api: -1, times: 0 }

  const server = createServer((client) => {
    const broker = connect(target, '127.0.0.1')
    const toLose = new Set<number>()
    for (const socket of [client, broker]) {
      sockets.add(socket)
      if (frozen) socket.pause()
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        broker.destroy()
      })
    }
    client.on(
      'data',
      byFrame((frame) => {
        const api = frame.readInt16BE(4)
        if (api === swallowed.api && swallowed.times > 0) {
          swallowed.times -= 1
          client.destroy()
          return
        }
        if (api === PRODUCE && left > 0) {
          seen += 1
          if (seen % every === 0) {
            left -= 1
            toLose.add(frame.readInt32BE(8))
          }
        }
        broker.write(frame)
      }),
    )
    broker.on(
      'data',
      byFrame((frame) => {
        if (toLose.has(frame.readInt32BE(4))) {
          lost += 1
          client.destroy()
        } else if (!client.destroyed) {
          client.write(frame)
        }
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    forwardTo: (port) => (target = port),
    loseAnswers: (options) => {
      every = options.every
      left = options.times
      seen = 0
    },
    swallow: (api, times) => Object.assign(swallowed, { api, times }),
    lost: () => lost,
    freeze() {
      frozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      frozen = false
      for (const socket of sockets) socket.resume()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Requests and responses are a four-byte length followed by that many bytes. */
function byFrame(onFrame: (frame: Buffer) => void): (data: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (data) => {
    rest = Buffer.concat([rest, data])
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const end = 4 + rest.readInt32BE(0)
      onFrame(rest.subarray(0, end))
      rest = rest.subarray(end)
    }
  }
}
