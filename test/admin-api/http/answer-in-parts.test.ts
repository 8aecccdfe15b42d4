import { get, type IncomingMessage } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { TrackRow } from '../../../schemas/devices/read-models.ts'
import { eventually } from '../../eventually.ts'
import { T0 } from '../../samples.ts'
import { startAdmin, type AdminHarness } from '../admin-harness.ts'

/** More than one part of a track, with texts that overflow the buffers on their way. */
const POINTS = 8_000
const LONG = { note: 'x'.repeat(256), other: 'y'.repeat(256) }

let harness: AdminHarness
let headers: Record<string, string>
let reads = 0
let failsAt = Infinity

beforeAll(async () => {
  harness = await startAdmin({
    wrapStore: (store) => ({
      ...store,
      async findTrackPoints(query) {
        reads += 1
        if (reads >= failsAt) throw new Error('the disk is gone')
        const points = await store.findTrackPoints(query)
        return points.map(
          (point): TrackRow => [...point.slice(0, 8), LONG, ...point.slice(9)] as never,
        )
      },
    }),
  })
  headers = await harness.createSession()
  const steps = Array.from({ length: POINTS }, (_, n) => ({
    deviceId: 'tug',
    timestamp: T0 + n * 1_000,
    latitude: 52 + Math.sin(n),
    longitude: 13,
  }))
  const [first, ...others] = steps
  if (first !== undefined) await harness.project(first, ...others)
})
beforeEach(() => {
  reads = 0
  failsAt = Infinity
})

const PATH = '/api/v1/devices/tug/track?points=10000'

function begin(encoding = 'identity'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { headers: { ...headers, 'Accept-Encoding': encoding }, agent: false as const }
    get(harness.url + PATH, options, resolve).on('error', reject)
  })
}

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

test('a long list is the same as a short one in all but its length, compressed too', async () => {
  const { status, body, headers: answered } = await harness.request('GET', PATH, { headers })
  expect(status).toBe(200)
  expect(answered.get('content-length')).toBeNull()
  expect(body).toMatchObject({ success: true, code: 200, message: 'OK' })
  expect(body.data).toMatchObject({ total: POINTS, shown: POINTS })
  expect(body.data?.['rows']).toHaveLength(POINTS)
  const compressed = await begin('gzip')
  expect(compressed.headers).toMatchObject({
    'content-encoding': 'gzip',
    vary: 'Accept-Encoding',
    'content-type': 'application/json; charset=utf-8',
  })
  expect(gunzipSync(await bytesOf(compressed)).toString()).toBe(JSON.stringify(body))
})

test.each(['identity', 'gzip'])(
  'a long list (%s) is read only as fast as its client takes it, and no further once the client is gone',
  async (encoding) => {
    const response = (await begin(encoding)).pause()
    // Other callers get their responses meanwhile.
    for (let time = 0; time < 5; time += 1) await harness.api('GET', '/labels', { headers })
    const before = reads
    expect(before).toBeLessThan(POINTS / 250)
    response.destroy()
    for (let time = 0; time < 5; time += 1) await harness.api('GET', '/labels', { headers })
    expect(reads).toBeLessThanOrEqual(before + 2)
  },
)

test('a read failure cuts a long list off, and at its start is a 500', async () => {
  for (const encoding of ['identity', 'gzip']) {
    failsAt = reads + 5
    const response = await begin(encoding)
    expect(response.statusCode).toBe(200)
    await expect(bytesOf(response)).rejects.toMatchObject({ code: 'ECONNRESET' })
  }
  failsAt = 0
  const { status, body } = await harness.request('GET', PATH, { headers })
  expect([status, body.error]).toEqual([500, 'SERVER_ERROR'])
})

test('a long list counts as a call until the client has read it', async () => {
  const lists: IncomingMessage[] = []
  while (lists.length < 6) lists.push((await begin()).pause())
  let isAnswered = false
  const seventh = harness.api('GET', '/labels', { headers }).finally(() => (isAnswered = true))
  const other = await harness.createSession((await harness.createOperator()).id)
  await harness.api('GET', '/labels', { headers: other })
  expect(isAnswered).toBe(false)
  lists[0]?.destroy()
  expect((await seventh).status).toBe(200)
  for (const list of lists) list.destroy()
  await eventually(async () => (await harness.api('GET', '/labels', { headers })).status === 200)
})
