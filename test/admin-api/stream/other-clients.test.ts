import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { EventSource } from 'eventsource'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { bearer } from '../admin-harness.ts'
import { startStreaming, type StreamHarness } from './stream-harness.ts'

let harness: StreamHarness
let line: Awaited<ReturnType<typeof startLine>>

beforeEach(async () => {
  harness = await startStreaming()
  line = await startLine(Number(new URL(harness.url).port))
})

afterEach(async () => {
  line.close()
  await harness.close()
})

/** A connection to the service that can be cut, until it is restored. */
async function startLine(port: number) {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((socket) => {
    if (isCut) return void socket.destroy()
    const onward = connect(port, '127.0.0.1')
    for (const end of [socket, onward]) {
      sockets.add(end)
      end.on('error', () => undefined)
      end.on('close', () => {
        socket.destroy()
        onward.destroy()
      })
    }
    socket.pipe(onward).pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    mend: () => (isCut = false),
    close() {
      this.cut()
      server.close()
    },
  }
}

test('eventsource resumes without a gap, also when it is cut before the first position', async () => {
  const { secret } = await harness.createKey({ scopes: ['positions:read'] })
  const source = new EventSource(`${line.url}/api/v1/stream`, {
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...bearer(secret) } }),
  })
  const received: string[] = []
  const ids: string[] = []
  source.addEventListener('heartbeat', ({ lastEventId }) => ids.push(lastEventId))
  source.addEventListener('position', ({ data }: { data: string }) => {
    received.push((JSON.parse(data) as { recordId: string }).recordId)
  })
  await eventually(() => ids.length > 0)
  const events = Array.from({ length: 19 }, () => positionReported())
  line.cut()
  await harness.eventLog.append(events.slice(0, 10))
  line.mend()
  await eventually(() => received.length >= 10)
  line.cut()
  await harness.eventLog.append(events.slice(10))
  line.mend()
  await eventually(() => received.length >= 19)
  source.close()
  expect(received).toEqual(events.map(({ recordId }) => recordId))
})
