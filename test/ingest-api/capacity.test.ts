import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { Load } from '../../runtime/load.ts'
import { eventually } from '../eventually.ts'
import { rawConnection } from '../raw-connection.ts'
import { startIngest, type IngestHarness } from './ingest-harness.ts'

const minimal = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }
const MOST_REPORTS = 3

let ingest: IngestHarness
let key: string
let sockets: Socket[]
/** Lets the log, which does not answer until then, go on. */
let letGo: () => void
let [appending, appended, asking] = [0, 0, 0]

beforeEach(async () => {
  sockets = []
  ;[appending, appended, asking] = [0, 0, 0]
  const going = new Promise<void>((resolve) => (letGo = resolve))
  ingest = await startIngest({
    load: new Load({ mostRequests: MOST_REPORTS }),
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

/** The statuses of as many reports at once as the service works on. */
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

  test('a report that is stored takes no place, even if its client does not read the answer', async () => {
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
