import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { InFlight } from '../../runtime/http/in-flight.ts'
import { eventually } from '../eventually.ts'
import { rawConnection } from '../raw-connection.ts'
import { T0 } from '../samples.ts'
import { expectRefused } from './expect-refused.ts'
import { startIngest, type IngestHarness } from './ingest-harness.ts'

const minimal = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }
const OTHER = { id: 'acc-2', name: 'Others' }
const MOST_REPORTS = 3
/** With 256 KiB for a key and 768 for an account; 128 are for small bodies alone. */
const MOST_BYTES = 1024 * 1024

let ingest: IngestHarness
let key: string
let load: InFlight
let sockets: Socket[]
/** Lets the log respond from now on. */
let letGo: () => void
let [appending, appended, asking] = [0, 0, 0]

beforeEach(async () => {
  sockets = []
  ;[appending, appended, asking] = [0, 0, 0]
  const going = new Promise<void>((resolve) => (letGo = resolve))
  load = new InFlight({
    mostRequests: MOST_REPORTS,
    mostOfAccount: MOST_REPORTS,
    mostBytes: MOST_BYTES,
  })
  ingest = await startIngest({
    load,
    wrapLog: (log) => ({
      ready: async () => {
        asking += 1
        await going
      },
      append: async (events) => {
        appending += 1
        await going
        await log.append(events)
        appended += 1
      },
    }),
  })
  key = (await ingest.createKey()).secret
})

afterEach(async () => {
  letGo()
  for (const socket of sockets) socket.destroy()
  await ingest.close()
})

/** A client that reads none of its responses. */
function neverReading(text: string): void {
  const { socket } = rawConnection(ingest.url, text)
  socket.pause()
  sockets.push(socket)
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const BUNDLE = '/docs/swagger-ui-bundle.js'
/** More than the buffers of a connection hold. */
const UNREAD = get(BUNDLE).repeat(12)

function post(path: string, body: unknown): string {
  const text = JSON.stringify(body)
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`
}

/** The number of responses of a route, whether read or not. */
async function made(route: string): Promise<number> {
  const { values } = await ingest.metrics.httpRequests.get()
  const ofRoute = values.filter(({ labels }) => labels.route === route)
  return ofRoute.reduce((total, { value }) => total + value, 0)
}

/** Sends as many concurrent reports as the service accepts; returns their statuses. */
async function reportsAtOnce(): Promise<number[]> {
  const before = appending
  const answers = Array.from({ length: MOST_REPORTS }, () => ingest.submit(minimal, { key }))
  await eventually(() => appending === before + MOST_REPORTS)
  letGo()
  return (await Promise.all(answers)).map(({ status }) => status)
}

describe('the share of an account', () => {
  beforeEach(async () => {
    await ingest.close()
    load = new InFlight({ mostRequests: 8 })
    const going = new Promise<void>((resolve) => (letGo = resolve))
    ingest = await startIngest({
      load,
      wrapLog: (log) => ({
        ready: () => log.ready(),
        append: async (events) => {
          appending += 1
          await going
          await log.append(events)
        },
      }),
    })
    await ingest.store.createAccount({ ...OTHER, suspended: false, createdAt: T0 })
  })

  test('an account has at most a quarter of the slots, however many keys it has; others find room', async () => {
    const keys = await Promise.all([1, 2, 3].map(() => ingest.createKey()))
    const submit = ({ secret }: { secret: string }) => ingest.submit(minimal, { key: secret })
    const waiting = keys.slice(0, 2).map(submit)
    await eventually(() => appending === 2)
    for (const one of keys) {
      const refused = await submit(one)
      expectRefused(refused, 503, 'SERVICE_UNAVAILABLE')
      expect(refused.headers.get('retry-after')).toMatch(/^[123]$/)
    }
    const other = submit(await ingest.createKey({ accountId: OTHER.id }))
    await eventually(() => appending === 3)
    letGo()
    const statuses = (await Promise.all([...waiting, other])).map(({ status }) => status)
    expect(statuses).toEqual([200, 200, 200])
    expect((await submit(keys[2]!)).status).toBe(200)
    expect(load.accounts.areTaken('acc-1')).toBe(false)
  })

  test('a body that arrives slowly counts once it is complete', async () => {
    key = (await ingest.createKey()).secret
    const begun = jest.spyOn(load, 'beginBody')
    const text = post('/api/v1/gps/submit', minimal)
    const [leaving, ...slow] = Array.from({ length: 5 }, () =>
      rawConnection(ingest.url, text.slice(0, -1)),
    )
    for (const { socket } of slow) sockets.push(socket)
    await eventually(() => begun.mock.calls.length === 5)
    leaving?.socket.destroy()
    for (const { socket } of slow) socket.write('}')
    await eventually(() => appending === 2)
    const refused = () => slow.filter(({ received }) => received().startsWith('HTTP/1.1 503'))
    await eventually(() => refused().length === 2)
    // Clients that leave while the log has their reports take no slot either.
    for (const { socket } of slow) socket.destroy()
    await eventually(() => !load.accounts.areTaken('acc-1'))
    const again = [ingest.submit(minimal, { key }), ingest.submit(minimal, { key })]
    await eventually(() => appending === 4)
    expect(load.accounts.areTaken('acc-1')).toBe(true)
    letGo()
    expect((await Promise.all(again)).map(({ status }) => status)).toEqual([200, 200])
  })
})

describe('slots for reports', () => {
  test('calls other than reports take no slot, whether they get their responses or not', async () => {
    for (let n = 0; n < 5; n += 1) neverReading(UNREAD)
    for (let n = 0; n < 5; n += 1) neverReading(get('/readyz'))
    await eventually(async () => asking === 5 && (await made(BUNDLE)) === 60)
    expect(await reportsAtOnce()).toEqual([200, 200, 200])
  })

  test('an answered report takes no slot, even if its client does not read the response', async () => {
    letGo()
    for (let n = 1; n <= 5; n += 1) {
      neverReading(UNREAD + post('/api/v1/gps/submit', minimal))
      await eventually(() => appended === n)
    }
    expect(await reportsAtOnce()).toEqual([200, 200, 200])
  })

  test('a rejected report takes no slot, even if its client does not read the response', async () => {
    for (let n = 1; n <= 5; n += 1) {
      neverReading(UNREAD + post('/pub', 'no position') + post('/api/v1/gps/submit', {}))
      await eventually(async () => (await made('/api/v1/gps/submit')) === n)
    }
    expect(await reportsAtOnce()).toEqual([200, 200, 200])
  })

  test('a report sent by GET is also rejected while all slots are taken', async () => {
    const waiting = Array.from({ length: MOST_REPORTS }, () => ingest.submit(minimal, { key }))
    await eventually(() => appending === MOST_REPORTS)
    const path = `/api/v1/senders/osmand/${key}?id=van&lat=1&lon=2`
    expect((await ingest.request(path)).status).toBe(503)
    letGo()
    await Promise.all(waiting)
    expect((await ingest.request(path)).status).toBe(200)
  })
})

/** A report of this length. */
const ofLength = (bytes: number) => ({ reports: [minimal], note: 'n'.repeat(bytes) })

describe('room for bodies', () => {
  beforeEach(() => letGo())

  /** Sends bodies of 128 KiB with a key, but never their last byte. */
  async function neverEnding(secret: string, bodies: number): Promise<void> {
    const length = 128 * 1024
    const head = `POST /pub HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\nContent-Length: ${length}\r\n\r\n`
    const held = jest.spyOn(load, 'hold')
    const arrived = () =>
      held.mock.results.filter(({ value }) => value === false).length >= bodies ||
      held.mock.calls.reduce((sum, [, bytes]) => sum + bytes, 0) >= bodies * (length - 1)
    for (let n = 0; n < bodies; n += 1) {
      const { socket } = rawConnection(ingest.url, head + ' '.repeat(length - 1))
      sockets.push(socket)
    }
    await eventually(arrived)
    held.mockRestore()
  }

  test('unfinished bodies of one key leave room for other keys', async () => {
    const { secret } = await ingest.createKey()
    await neverEnding(secret, 2)
    const more = await ingest.batch(ofLength(20_000), { key: secret })
    expect(more.status).toBe(503)
    for (let n = 0; n < 8; n += 1) await neverEnding(secret, 1)
    expect((await ingest.batch(ofLength(200_000), { key })).status).toBe(200)
  })

  test('unfinished bodies of all keys of an account leave room for other accounts', async () => {
    for (let n = 0; n < 5; n += 1) await neverEnding((await ingest.createKey()).secret, 2)
    const other = await keyOfOtherAccount()
    expect((await ingest.batch(ofLength(100_000), { key: other })).status).toBe(200)
  })

  test('large bodies leave room for small ones, even if those arrive in pieces', async () => {
    for (let n = 0; n < 3; n += 1) await neverEnding((await ingest.createKey()).secret, 2)
    const other = await keyOfOtherAccount()
    await neverEnding(other, 1)
    expect((await ingest.batch(ofLength(20_000), { key: other })).status).toBe(503)
    const text = post('/api/v1/gps/submit', { ...minimal, note: 'n'.repeat(15_000) })
    const begun = jest.spyOn(load, 'beginBody')
    const { socket, received } = rawConnection(ingest.url, text.slice(0, -1_000))
    sockets.push(socket)
    await eventually(() => begun.mock.calls.length > 0)
    socket.write(text.slice(-1_000))
    await eventually(() => received() !== '')
    expect(received()).toMatch(/^HTTP\/1\.1 200 /)
  })

  async function keyOfOtherAccount(): Promise<string> {
    await ingest.store.createAccount({ ...OTHER, suspended: false, createdAt: T0 })
    return (await ingest.createKey({ accountId: OTHER.id })).secret
  }
})
