/** @node all */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import {
  ReadingClient,
  countTakenBytes,
  unacknowledgedBytes,
} from '../../../runtime/http/reading-client.ts'
import { closeAfterwards } from '../../closing.ts'
import { eventually } from '../../eventually.ts'

const WRITTEN_BYTES = 64 * 1024 * 1024
/** A small part of the kernel's buffers. */
const PIECE = Buffer.alloc(16 * 1024)

/** A connection whose client has read nothing, with more data than the kernel's buffers hold. */
async function unread(host: string): Promise<{ own: Socket; client: Socket }> {
  const { own, client } = await connected(host)
  own.write(Buffer.alloc(WRITTEN_BYTES))
  await eventually(() => client.readableLength > 0 && own.writableLength > 0)
  return { own, client }
}

async function connected(host: string): Promise<{ own: Socket; client: Socket }> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, host)
  client.on('error', () => undefined)
  const [own] = (await once(server, 'connection')) as [Socket]
  own.on('error', () => undefined)
  closeAfterwards(() => {
    own.destroy()
    client.destroy()
    server.close()
  })
  return { own, client }
}

/** Reads some of the data received by the client, as a slow reader would. */
async function take(client: Socket, bytes: number): Promise<void> {
  for (let taken = 0; taken < bytes;) {
    const chunk = client.read() as Buffer | null
    if (chunk === null) await once(client, 'readable')
    else taken += chunk.length
  }
}

const now = performance.now.bind(performance)
/** The clock never goes back, even between tests: checks within half a second share the table. */
let [ahead, step] = [0, 0]

beforeEach(() => {
  ahead += 1_000
  step = 0
  jest.spyOn(performance, 'now').mockImplementation(() => now() + (ahead += step))
})

afterEach(() => {
  jest.restoreAllMocks()
})

function readTheTableEachTime(): void {
  step = 1_000
}

/** Only Linux has the kernel's table. */
const onLinux = existsSync('/proc/net/tcp') ? test : test.skip
const interfaces = Object.values(networkInterfaces()).flat()
const HOSTS = ['127.0.0.1', '::1'].filter((host) => interfaces.some((one) => one?.address === host))

onLinux.each(HOSTS)(
  'a client at %s that reads little counts as reading before the kernel takes more',
  async (host) => {
    readTheTableEachTime()
    const { own, client } = await unread(host)
    const reading = new ReadingClient(own)
    await eventually(() => reading.hasStopped())
    const [taken, before = 0] = [countTakenBytes(own), await unacknowledgedBytes(own)]
    expect(before).toBeGreaterThan(100_000)

    // The client's kernel opens its window only once there is enough room.
    await eventually(async () => {
      await take(client, PIECE.length)
      return ((await unacknowledgedBytes(own)) ?? before) < before
    })
    expect(countTakenBytes(own)).toBe(taken)
    expect(await reading.hasStopped()).toBe(false)
    await eventually(() => reading.hasStopped())
  },
)

onLinux.each(HOSTS)(
  'a client at %s that reads nothing does not count as reading although the kernel takes more',
  async (host) => {
    const { own } = await connected(host)
    readTheTableEachTime()
    // Until the client acknowledges nothing more; the kernel still has room.
    let [acknowledged, unchanged] = [-1, 0]
    await eventually(
      async () => {
        await new Promise((taken) => own.write(PIECE, taken))
        const read = own.bytesWritten - ((await unacknowledgedBytes(own)) ?? 0)
        unchanged = read === acknowledged ? unchanged + 1 : 0
        acknowledged = read
        return unchanged === 20
      },
      { withinMs: 120_000 },
    )
    const reading = new ReadingClient(own)
    await eventually(() => reading.hasStopped())
    const before = (await unacknowledgedBytes(own)) ?? 0

    await new Promise((taken) => own.write(PIECE, taken))
    await eventually(async () => ((await unacknowledgedBytes(own)) ?? 0) > before)
    expect(await reading.hasStopped()).toBe(true)
  },
)

onLinux('what a client acknowledges during a look counts as read at the next one', async () => {
  const { own } = await connected('127.0.0.1')
  await new Promise((taken) => own.write(PIECE, taken))
  await eventually(async () => (await unacknowledgedBytes(own)) === 0)
  const reading = new ReadingClient(own)
  const look = reading.hasStopped()
  await new Promise((taken) => own.write(PIECE, taken))
  await look
  readTheTableEachTime()
  await eventually(async () => (await unacknowledgedBytes(own)) === 0)
  expect(await reading.hasStopped()).toBe(false)
  expect(await reading.hasStopped()).toBe(true)
})

test('without the kernel’s table, a client counts as reading once the written bytes are taken', async () => {
  const { own, client } = await unread('127.0.0.1')
  // No socket has this number.
  const { _handle: handle } = own as unknown as { readonly _handle: object }
  Object.defineProperty(handle, 'fd', { value: -1 })
  const reading = new ReadingClient(own)
  await eventually(() => reading.hasStopped())
  await take(client, WRITTEN_BYTES)
  await eventually(() => own.writableLength === 0)
  expect(await reading.hasStopped()).toBe(false)
})

test('a connection that has ended has no unacknowledged bytes', async () => {
  const { own, client } = await unread('127.0.0.1')
  client.destroy()
  own.destroy()
  await eventually(async () => (await unacknowledgedBytes(own)) === undefined)
})
