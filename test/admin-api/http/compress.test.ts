import { get, type IncomingMessage } from 'node:http'
import { constants, createGunzip, gunzipSync } from 'node:zlib'
import { beforeAll, expect, test } from '@jest/globals'
import { compressTexts } from '../../../admin-api/http/compress.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { bearer } from '../admin-harness.ts'
import { eventStreamParser } from '../stream/event-source.ts'
import { startStreaming, type StreamHarness } from '../stream/stream-harness.ts'

let harness: StreamHarness
let secret: string
beforeAll(async () => {
  harness = await startStreaming()
  secret = (await harness.createKey()).secret
  harness.project()
  await harness.eventLog.append(
    Array.from({ length: 100 }, (_, n) => positionReported({ deviceId: `tug-${n}` })),
  )
  const query = { accountId: 'acc-1', limit: 200 }
  await eventually(async () => (await harness.store.pageDevices(query)).length === 100)
})

function ask(path: string, encoding?: string): Promise<IncomingMessage> {
  const headers = {
    ...bearer(secret),
    ...(encoding !== undefined && { 'Accept-Encoding': encoding }),
  }
  return new Promise((resolve, reject) => {
    get(`${harness.url}/api/v1${path}`, { headers, agent: false }, resolve).on('error', reject)
  })
}

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

test.each(['/devices', '/devices?limit=50', '/devices/tug-1/activity'])(
  '%s is the same compressed, and smaller',
  async (path) => {
    const plain = await ask(path)
    const compressed = await ask(path, 'gzip, deflate, br')
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(compressed.headers['content-encoding']).toBe('gzip')
    for (const { headers } of [plain, compressed]) {
      expect(headers.vary).toBe('Accept-Encoding')
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
    }
    const [whole, small] = [await bytesOf(plain), await bytesOf(compressed)]
    expect(gunzipSync(small).equals(whole)).toBe(true)
    expect(small.length).toBeLessThan(whole.length / 3)
  },
)

test.each([undefined, 'identity', 'gzip;q=0', 'br', ''])(
  'a client that accepts %j gets lists uncompressed',
  async (encoding) => {
    expect((await ask('/devices', encoding)).headers['content-encoding']).toBeUndefined()
  },
)

test('small lists are not compressed', async () => {
  const response = await ask('/devices?limit=1', 'gzip')
  expect(response.headers['content-encoding']).toBeUndefined()
  expect(response.headers.vary).toBe('Accept-Encoding')
})

test('responses with secrets are never compressed', async () => {
  const headers = { ...bearer(secret), 'Accept-Encoding': 'gzip' }
  const deviceIds = Array.from({ length: 500 }, (_, n) => `tug-${n}`)
  const key = await harness.api('POST', '/keys', { headers, body: { name: 'k', deviceIds } })
  expect(key.text.length).toBeGreaterThan(2_000)
  const id = String(key.body.data?.['id'])
  const rotated = await harness.api('POST', `/keys/${id}/rotate`, { headers })
  const share = await harness.api('POST', '/shares', {
    headers,
    body: {
      name: 's',
      deviceIds: deviceIds.slice(0, 50),
      expiresAt: new Date(harness.clock.now() + 60_000),
    },
  })
  expect(share.status).toBe(201)
  const one = await harness.api('GET', '/keys', { headers })
  for (const answer of [key, rotated, share, one]) {
    expect(answer.headers.get('content-encoding')).toBeNull()
  }
})

test('a compressed stream flushes each event immediately', async () => {
  const response = await ask('/stream', 'gzip')
  expect(response.headers['content-encoding']).toBe('gzip')
  expect(response.headers['content-type']).toBe('text/event-stream')
  const parser = eventStreamParser()
  const unpacked = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })
  unpacked.on('data', (text: Buffer) => parser.take(text.toString()))
  unpacked.on('error', () => undefined)
  response.on('error', () => undefined)
  response.pipe(unpacked)
  await eventually(() => parser.heartbeats.length > 0 && parser.lastEventId() !== '')
  const sent: string[] = []
  for (let n = 1; n <= 20; n += 1) {
    const event = positionReported({ deviceId: `tug-${n}` })
    sent.push(event.recordId)
    await harness.eventLog.append([event])
    await eventually(() => parser.events.filter(({ event }) => event === 'position').length === n)
  }
  const positions = parser.events.filter(({ event }) => event === 'position')
  expect(positions.map(({ data }) => data['recordId'])).toEqual(sent)
  response.destroy()
  await eventually(async () => (await harness.metric('gps_stream_readers')) === 0)
})

test('texts of any size, compressed one by one, can each be read before the next one is requested', async () => {
  const texts = ['a', 'b'.repeat(100_000), '€', Array.from({ length: 90_000 }, Math.random).join()]
  let asked = 0
  async function* all() {
    for (const text of texts) {
      asked += 1
      yield await Promise.resolve(text)
    }
  }
  let packed = Buffer.alloc(0)
  for await (const part of compressTexts(all())) {
    packed = Buffer.concat([packed, part])
    const whole = gunzipSync(packed, { finishFlush: constants.Z_SYNC_FLUSH }).toString()
    expect(whole).toBe(texts.slice(0, asked).join(''))
  }
  expect(gunzipSync(packed).toString()).toBe(texts.join(''))
})

test('compressing one by one stops when the reader stops', async () => {
  let ended = false
  async function* endless() {
    try {
      for (;;) yield await Promise.resolve('x')
    } finally {
      ended = true
    }
  }
  for await (const part of compressTexts(endless())) {
    expect(part.length).toBeGreaterThan(0)
    break
  }
  expect(ended).toBe(true)
})
