import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  deflateSync,
  gunzipSync,
  gzipSync,
  inflateSync,
} from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { InFlight } from '../../../runtime/http/in-flight.ts'
import { expectRefused } from '../expect-refused.ts'
import { ingestForAllTests, startIngest, type IngestHarness } from '../ingest-harness.ts'

const minimal = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }

let ingest: IngestHarness
let key: string
ingestForAllTests((given) => ({ ingest, key } = given))

const text = JSON.stringify(minimal)
const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
const codings = [
  ['gzip', gzipSync, gunzipSync],
  ['deflate', deflateSync, inflateSync],
  ['br', (body: Buffer | string) => brotliCompressSync(body, fast), brotliDecompressSync],
] as const

function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1_000
}

function send(body: Uint8Array, coding: string) {
  return ingest.submit(body, { key, headers: { 'Content-Encoding': coding } })
}

describe.each(codings)('bodies in %s', (coding, compress, decompress) => {
  test('a compressed body is accepted like an uncompressed one', async () => {
    expect((await send(compress(text), coding)).status).toBe(200)
    expect((await send(compress(text), coding.toUpperCase())).status).toBe(200)
    expect((await ingest.logged()).at(-1)).toMatchObject(minimal)
    const reports = Array.from({ length: 100 }, () => minimal)
    const batch = compress(JSON.stringify({ reports }))
    const answer = await ingest.batch(batch, { key, headers: { 'Content-Encoding': coding } })
    expect(answer.body).toMatchObject({ data: { accepted: 100 } })
  })

  test('a compressed body is limited by its decompressed size', async () => {
    const padded = (bytes: number) => text + ' '.repeat(bytes - text.length)
    expect((await send(compress(padded(16 * 1024)), coding)).status).toBe(200)
    const refused = await send(compress(padded(16 * 1024 + 1)), coding)
    expectRefused(refused, 413, 'PAYLOAD_TOO_LARGE')
    expect(refused.body['message']).toContain('16384 bytes')
  })

  test('a compressed body with a very large decompressed size costs neither time nor memory', async () => {
    const bomb = compress(Buffer.alloc(100 * 1024 * 1024))
    const inflating = process.cpuUsage()
    decompress(bomb)
    const whole = cpuMs(inflating)
    const headers = { 'Content-Encoding': coding }
    const sent = bomb.subarray(0, 1024 * 1024)
    const before = process.memoryUsage().rss
    const started = process.cpuUsage()
    for (let n = 0; n < 5; n += 1) {
      expectRefused(await ingest.batch(sent, { key, headers }), 413, 'PAYLOAD_TOO_LARGE')
    }
    expect(cpuMs(started)).toBeLessThan((5 * whole) / 2)
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024)
  })

  test.each([
    ['is cut off', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['goes on after its end', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('x')])],
    ['is followed by zeros', (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(4)])],
    [
      'is followed by another request',
      (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('GET / HTTP/1.1\r\n\r\n')]),
    ],
    ['is not what it says', () => Buffer.from(text)],
    ['is empty', () => Buffer.alloc(0)],
    ['becomes nothing', () => compress('')],
    ['becomes what is not JSON', () => compress('{"deviceId":')],
    ['becomes what is not UTF-8', () => compress(Buffer.from('{"deviceId":"\xe9"}', 'latin1'))],
  ])('a compressed body that %s is a 400', async (_what, damage) => {
    const before = (await ingest.logged()).length
    const answer = await send(damage(compress(text)), coding)
    expectRefused(answer, 400, 'INVALID_PARAMS')
    expect((await ingest.logged()).length).toBe(before)
  })

  test('operators see a compressed body decompressed', async () => {
    const own = await startIngest()
    const { secret } = await own.createKey()
    const headers = { 'Content-Encoding': coding }
    await own.submit(compress('{"deviceId":"tug"}'), { key: secret, headers })
    await own.submit(compress('no JSON'), { key: secret, headers })
    await own.submit(Buffer.from('damaged'), { key: secret, headers })
    const rejections = await own.rejected(3)
    expect(rejections.map(({ body }) => body)).toEqual(['{"deviceId":"tug"}', 'no JSON', undefined])
    await own.close()
  })
})

test('bodies with a very large decompressed size at the same time stay within the memory limit', async () => {
  const mebibytes = 1024 * 1024
  const load = new InFlight({
    mostBytes: 20 * mebibytes,
    mostOfKey: 20 * mebibytes,
    keptForSmall: 0,
  })
  const own = await startIngest({ load })
  const { secret } = await own.createKey()
  const bomb = gzipSync(`{"image":"${'A'.repeat(8 * mebibytes - 100)}"}`)
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Encoding': 'gzip' }
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const watching = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }, 1)
  const answers = await Promise.all(
    Array.from({ length: 60 }, () =>
      own.request('/pub', { method: 'POST', headers, body: bomb as unknown as Blob }),
    ),
  )
  clearInterval(watching)
  const statuses = new Set(answers.map(({ status }) => status))
  expect([...statuses].sort()).toEqual([200, 503])
  // It was 480 MiB and more, for 480 MiB of bodies.
  expect(most / mebibytes).toBeLessThan(150)
  const after = await own.request('/pub', {
    method: 'POST',
    headers,
    body: bomb as unknown as Blob,
  })
  expect(after.status).toBe(200)
  await own.close()
})

test('an incompressible body may be slightly larger than its decompressed content', async () => {
  const padded = text + ' '.repeat(16 * 1024 - text.length)
  const stored = gzipSync(padded, { level: 0 })
  expect(stored.length).toBeGreaterThan(16 * 1024)
  expect((await send(stored, 'gzip')).status).toBe(200)
})

test.each(['zstd', 'compress', 'gzip, br', 'gzip, identity', 'identity, identity', 'constructor'])(
  'Content-Encoding: %s is a 415',
  async (coding) => {
    expectRefused(await send(gzipSync(text), coding), 415, 'UNSUPPORTED_MEDIA_TYPE')
  },
)

test('a body is rejected by its declared length alone', async () => {
  const answer = await send(Buffer.alloc(20 * 1024), 'gzip')
  expectRefused(answer, 413, 'PAYLOAD_TOO_LARGE')
})
