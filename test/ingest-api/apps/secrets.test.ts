import { expect, test } from '@jest/globals'
import { pino } from 'pino'
import { rawConnection } from '../../raw-connection.ts'
import { HIDDEN } from '../../schemas/hidden-keys.ts'
import { ingestForAllTests, type Answer, type IngestHarness } from '../ingest-harness.ts'
import { rejectionsOf } from './rejections-of.ts'
import {
  batch,
  bearer,
  devicesOf,
  feature,
  location,
  now,
  OSMAND,
  OVERLAND,
  OWNTRACKS,
  post,
  query,
} from './app-requests.ts'

let ingest: IngestHarness
const logged: string[] = []
const logger = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
ingestForAllTests((given) => ({ ingest } = given), { logger })

/** Everything that was logged, counted, stored and answered. */
async function seenOf(id: string, answers: readonly Answer[]): Promise<string> {
  const rejections = await rejectionsOf(ingest, id)
  const { text } = (await ingest.request('/metrics')).body as { text: string }
  const told = answers.map(({ body, headers }) => [body, ...headers])
  return JSON.stringify([logged, rejections, told, text, await ingest.logged()])
}

function expectNoneOf(secret: string, seen: string): void {
  for (const part of [secret, secret.slice(4), secret.slice(4, -6)]) {
    expect(seen).not.toContain(part)
  }
}

test('a key in a URL never appears in logs, metrics, rejections, events or answers', async () => {
  const { id, secret } = await ingest.createKey()
  const encoded = `gps%5f${secret.slice(4)}`
  const paths = [
    `${OSMAND}/${secret}?id=van&lat=95&lon=10&note=${secret}`,
    `${OSMAND}/${encoded}?id=van&lat=95&lon=10&key=${encoded}`,
    `/?id=${secret}&lat=95&lon=10&api_key=${secret}`,
    `/?lat=${secret}&lon=10&key=${secret}`,
    `/log/osmand/${encoded}/van?lat=95&lon=10`,
    `/log/osmand/${secret}/${secret}?lat=1&lon=10`,
    `/nowhere/${secret}?key=${secret}`,
    `/${encoded}`,
    `${OVERLAND}/${secret}`,
    `${OSMAND}/${secret}x?id=van`,
  ]
  const answers = []
  for (const path of paths) answers.push(await ingest.request(path))
  expect(answers.map(({ status }) => status)).toEqual([
    ...Array<number>(6).fill(200),
    ...Array<number>(3).fill(404),
    401,
  ])
  expect(await rejectionsOf(ingest, id)).toHaveLength(6)
  expectNoneOf(secret, await seenOf(id, answers))
  expect(logged.length).toBeGreaterThan(10)
})

test('an attribute that contains a key, however hidden, is omitted from an app’s point, but the point is stored', async () => {
  const { secret } = await ingest.createKey()
  const params = new URLSearchParams()
  HIDDEN.forEach(([, hide], number) => params.set(`note${number}`, hide(secret)))
  const path = `${OSMAND}/${secret}?id=notes&lat=1&lon=2&fine=yes&${params.toString()}`
  expect((await ingest.request(path)).status).toBe(200)
  const [event] = (await ingest.logged()).filter(({ deviceId }) => deviceId === 'notes')
  expect(event?.attributes).toEqual({ fine: 'yes' })
})

test('a device id that contains a key is rejected in positions and heartbeats, and not stored', async () => {
  const { id, secret } = await ingest.createKey()
  const point = { lat: 1, lon: 2, tst: now() }
  // The user has put the key into each empty field.
  const answers = [
    await post(ingest, OWNTRACKS, location({ topic: `owntracks/${secret}/phone` }), bearer(secret)),
    await post(ingest, OWNTRACKS, JSON.stringify({ _type: 'location', ...point }), {
      'X-Limit-U': secret,
      'X-Limit-D': 'phone',
      Authorization: `Basic ${btoa(`${secret}:${secret}`)}`,
    }),
    await post(ingest, OWNTRACKS, `{"_type":"lwt","topic":"owntracks/jane/x${secret}"}`, {
      Authorization: `Basic ${secret}:`,
    }),
    await post(ingest, OVERLAND, batch(feature(54.3, `van ${secret}`)), bearer(secret)),
    await ingest.request(`${OSMAND}/${secret}?${query().replace('van', `van-${secret}`)}`),
    await ingest.request(`/log/get/${secret}/x${secret}x?${query()}`),
    await ingest.submit({ deviceId: `van:${secret}`, latitude: 1, longitude: 2 }, { key: secret }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([...Array<number>(6).fill(200), 400])
  await ingest.rejected(1)
  expect((await rejectionsOf(ingest, id)).map(({ message }) => message)).toEqual(
    Array(7).fill(expect.stringContaining('deviceId must not be or contain an API key')),
  )
  expectNoneOf(secret, await seenOf(id, answers))
})

test('a key in a body is not stored even if its underscore is percent-encoded', async () => {
  const { id, secret } = await ingest.createKey()
  const answers = []
  for (const underscore of ['%5f', '%5F', '%255F']) {
    const encoded = secret.replace('_', underscore)
    const form = `id=van&url=https%3A%2F%2Fgps.example%2F${encoded}&more=${'x'.repeat(17_000)}`
    answers.push(await post(ingest, OSMAND, form, bearer(secret)))
    const json = JSON.stringify({ _type: 'encrypted', url: `https://gps.example/?key=${encoded}` })
    answers.push(await post(ingest, OWNTRACKS, json, bearer(secret)))
  }
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
  expect(await rejectionsOf(ingest, id)).toHaveLength(6)
  expectNoneOf(secret, await seenOf(id, answers))
})

test('a key in an invalid address appears neither in the log nor in a warning of Node', async () => {
  const warned: string[] = []
  const note = ({ message }: Error) => void warned.push(message)
  process.on('warning', note)
  const { id, secret } = await ingest.createKey()
  for (const address of [
    `http://[${secret}/`,
    `http://[::1${OSMAND}/${secret}?id=van&lat=1&lon=2`,
    `http://host:port${OSMAND}/${secret}`,
    `http://host:99999/?key=${secret}&id=van`,
  ]) {
    expect(await answerToLine(`GET ${address} HTTP/1.1`)).toMatch(
      /^HTTP\/1\.1 400 .*"error":"INVALID_PARAMS"\}$/s,
    )
  }
  // A proxy may receive an absolute URL.
  const whole = `http://${secret}:x@host:8080${OSMAND}/${secret}?${query()}`
  expect(await answerToLine(`GET ${whole} HTTP/1.1`)).toMatch(/^HTTP\/1\.1 200 /)
  expect(await devicesOf(ingest, id)).toEqual(['van'])
  process.off('warning', note)
  expectNoneOf(secret, (await seenOf(id, [])) + warned.join())
})

async function answerToLine(line: string): Promise<string> {
  const text = `${line}\r\nHost: host\r\nConnection: close\r\n\r\n`
  const { received, closed } = rawConnection(ingest.url, text)
  await closed
  return received()
}
