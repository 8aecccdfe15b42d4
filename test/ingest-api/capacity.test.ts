import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { InFlight } from '../../runtime/in-flight.ts'
import { eventually } from '../eventually.ts'
import { rawConnection } from '../raw-connection.ts'
import { T0 } from '../samples.ts'
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
/** Ends the log's silence: it answers from then on. */
let letGo: () => void
let [appending, appended, asking] = [0, 0, 0]

beforeEach(async () => {
  sockets = []
  ;[appending, appended, asking] = [0, 0, 0]
  const going = new Promise<void>((resolve) => (letGo = resolve))
  load = new InFlight({ mostRequests: MOST_REPORTS, mostBytes: MOST_BYTES })
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

/** A client that reads none of its answers. */
function neverReading(text: string): void {
  const { socket } = rawConnection(ingest.url, text)
  socket.pause()
  sockets.push(socket)
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const BUNDLE = '/docs/swagger-ui-bundle.js'
/** More than the buffers of a connection take. */
const UNREAD = get(BUNDLE).repeat(12)

function post(path: string, body: unknown): string {
  const text = JSON.stringify(body)
  return `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`
}

/** How many answers of a route were made, whether they were read or not. */
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

describe('places of reports', () => {
  test('calls that are no reports take no place of a report, whether they are answered or not', async () => {
    for (let n = 0; n < 5; n += 1) neverReading(UNREAD)
    for (let n = 0; n < 5; n += 1) neverReading(get('/readyz'))
    await eventually(async () => asking === 5 && (await made(BUNDLE)) === 60)
    expect(await reportsAtOnce()).toEqual([200, 200, 200])
  })

  test('an answered report takes no place, even if its client does not read the answer', async () => {
    letGo()
    for (let n = 1; n <= 5; n += 1) {
      neverReading(UNREAD + post('/api/v1/gps/submit', minimal))
      await eventually(() => appended === n)
    }
    expect(await reportsAtOnce()).toEqual([200, 200, 200])
  })

  test('a refused report takes no place, even if its client does not read the answer', async () => {
    for (let n = 1; n <= 5; n += 1) {
      neverReading(UNREAD + post('/pub', 'no position') + post('/api/v1/gps/submit', {}))
      await eventually(async () => (await made('/api/v1/gps/submit')) === n)
    }
    expect(await reportsAtOnce()).toEqual([200, 200, 200])
  })

  test('a report by GET finds no place either while as many as may be are under way', async () => {
    const waiting = Array.from({ length: MOST_REPORTS }, () => ingest.submit(minimal, { key }))
    await eventually(() => appending === MOST_REPORTS)
    const path = `/api/v1/senders/osmand/${key}?id=van&lat=1&lon=2`
    expect((await ingest.request(path)).status).toBe(503)
    letGo()
    await Promise.all(waiting)
    expect((await ingest.request(path)).status).toBe(200)
  })
})

/** A report that is as long as that. */
const ofLength = (bytes: number) => ({ reports: [minimal], note: 'n'.repeat(bytes) })

describe('room for bodies', () => {
  beforeEach(() => letGo())

  /** Sends bodies of 128 KiB in the name of a key, but never their last byte. */
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

  test('bodies of one key that do not end leave room for those of others', async () => {
    const { secret } = await ingest.createKey()
    await neverEnding(secret, 2)
    const more = await ingest.batch(ofLength(20_000), { key: secret })
    expect(more.status).toBe(503)
    for (let n = 0; n < 8; n += 1) await neverEnding(secret, 1)
    expect((await ingest.batch(ofLength(200_000), { key })).status).toBe(200)
  })

  test('bodies of all keys of an account that do not end leave room for those of other accounts', async () => {
    for (let n = 0; n < 5; n += 1) await neverEnding((await ingest.createKey()).secret, 2)
    const other = await keyOfOtherAccount()
    expect((await ingest.batch(ofLength(100_000), { key: other })).status).toBe(200)
  })

  test('large bodies leave room for small ones, also for those that arrive in pieces', async () => {
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
