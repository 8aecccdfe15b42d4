import { readFileSync } from 'node:fs'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { Pool } from 'undici'
import { eventually } from '../eventually.ts'
import { startEmbedded, startProgram, temporaryDirectory, type Embedded } from '../programs.ts'
import { noteFault, SHORT } from './table.ts'

const BODIES = SHORT ? 10_000 : 50_000
const AT_ONCE = 50
const MOST_GROWTH_MB = 50

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let service: Embedded
let pool: Pool
let key: string

beforeAll(async () => {
  directory = await temporaryDirectory()
  // Builds if needed, for which the memory below is too little.
  await startProgram('embedded/main', { args: ['--help'] }).ended
  service = await startEmbedded(directory.path, {
    RATE_LIMIT_KEY: 'off',
    NODE_OPTIONS: '--max-old-space-size=256',
  })
  key = await eventually(() => /gps_[0-9A-Za-z]{38}/.exec(service.output())?.[0])
  pool = new Pool(service.ingestUrl, { connections: AT_ONCE })
})

afterAll(async () => {
  await pool.destroy()
  service.process.kill('SIGKILL')
  await service.ended
  await directory.remove()
})

const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
const compress: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gzipSync(bytes, { level: 1 }),
  deflate: (bytes) => deflateSync(bytes, { level: 1 }),
  br: (bytes) => brotliCompressSync(bytes, fast),
}

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, '', -0, 1e308, 90.1, -181, 'x'.repeat(129), '\ud800', '..', [[]], {}),
  fc.string({ unit: 'binary', maxLength: 140 }),
)
const field = (good: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 4, arbitrary: good }, { weight: 1, arbitrary: odd })
const report = fc.record(
  {
    deviceId: field(fc.constantFrom('tug', 'barge', '車-7')),
    latitude: field(fc.double({ min: -90, max: 90, noNaN: true })),
    longitude: field(fc.double({ min: -180, max: 180, noNaN: true })),
    timestamp: field(fc.constantFrom('2026-01-01T00:00:00Z', '20260101T000000Z', '2026-02-30')),
    speed: odd,
    ['__proto__']: odd,
    other: odd,
  },
  { requiredKeys: ['deviceId', 'latitude', 'longitude'] },
)
const reports = fc.oneof(fc.array(fc.oneof(report, odd), { maxLength: 30 }), odd)
const json = fc
  .oneof(
    report.map((value) => ({ path: 'submit', value: value })),
    reports.map((value) => ({ path: 'batch', value: { reports: value } })),
    odd.map((value) => ({ path: 'batch', value })),
  )
  .map(({ path, value }) => ({ path, text: JSON.stringify(value) }))
const text = fc.oneof(
  { weight: 6, arbitrary: json },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['['.repeat(16_000), '{"reports":['.repeat(1_300), '{"reports":[[[[[1e999]]]]]}'].flatMap(
        (nested) => ['submit', 'batch'].map((path) => ({ path, text: nested })),
      ),
      { path: 'batch', text: `{"reports":[${'0,'.repeat(2_000)}0]}` },
      { path: 'batch', text: `{"reports":[${'['.repeat(9_000)}${']'.repeat(9_000)}]}` },
      { path: 'submit', text: `{"deviceId":"${'é'.repeat(9_000)}"}` },
    ),
  },
)
const request = fc
  .record({
    text,
    damage: fc.option(fc.tuple(fc.nat(), fc.constantFrom('cut', 'flip', 'add')), { freq: 3 }),
    coding: fc.constantFrom('', '', 'identity', 'gzip', 'deflate', 'br', 'zstd', 'gzip, br'),
    packed: fc.constantFrom('as said', 'as said', 'as said', 'not', 'gzip'),
    damageAfter: fc.boolean(),
    type: fc.constantFrom(
      ...Array<string>(8).fill('application/json'),
      'text/plain',
      'application/x+json;charset=utf-16',
    ),
    idempotencyKey: fc.option(fc.constantFrom('trip', 'a b', 'x'.repeat(256)), { freq: 4 }),
    key: fc.constantFrom('good', 'good', 'good', 'good', 'none', 'wrong'),
  })
  .map(({ text: { path, text: written }, damage, coding, packed, damageAfter, ...rest }) => {
    let body = Buffer.from(written)
    if (damage !== null && !damageAfter) body = damaged(body, ...damage)
    const pack = compress[packed === 'as said' ? coding : packed]
    if (pack !== undefined) body = Buffer.from(pack(body))
    if (damage !== null && damageAfter) body = damaged(body, ...damage)
    return { path, coding, body, ...rest }
  })
type Request = typeof request extends fc.Arbitrary<infer R> ? R : never

function damaged(bytes: Buffer, seed: number, how: 'cut' | 'flip' | 'add'): Buffer<ArrayBuffer> {
  const at = bytes.length === 0 ? 0 : seed % bytes.length
  const changed = Buffer.from(how === 'cut' ? bytes.subarray(0, at) : bytes)
  if (how === 'flip' && changed.length > 0) changed[at] = (changed[at] ?? 0) ^ (1 << (seed % 8))
  return how === 'add' ? Buffer.concat([changed, Buffer.from([seed % 256])]) : changed
}

async function send({ path, coding, body, type, idempotencyKey, key: kind }: Request) {
  const {
    statusCode,
    headers,
    body: answer,
  } = await pool.request({
    method: 'POST',
    path: `/api/v1/gps/${path}`,
    headers: {
      'content-type': type,
      ...(coding !== '' && { 'content-encoding': coding }),
      ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
      ...(kind !== 'none' && { authorization: `Bearer ${kind === 'good' ? key : 'gps_wrong'}` }),
    },
    body,
  })
  const told = (await answer.json()) as { success?: unknown; code?: unknown; error?: unknown }
  const isBusy = statusCode === 503 && headers['retry-after'] !== undefined
  expect(isBusy || (statusCode >= 200 && statusCode < 500)).toBe(true)
  expect(told).toMatchObject({ success: statusCode < 300, code: statusCode })
  expect(headers['x-request-id']).toBeDefined()
  return statusCode
}

test(`${BODIES} hostile bodies get 2xx or 4xx in the envelope, and leave no memory behind`, async () => {
  const statuses: Record<number, number> = {}
  let before = Infinity
  let sent = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { minLength: AT_ONCE, maxLength: AT_ONCE }),
      async (requests) => {
        for (const status of await Promise.all(requests.map(send))) {
          statuses[status] = (statuses[status] ?? 0) + 1
        }
        sent += requests.length
        // By then everything has been compiled, and the garbage collector has had its first turns.
        if (before === Infinity && sent >= BODIES / 5) before = residentMb()
      },
    ),
    { numRuns: BODIES / AT_ONCE },
  )
  const growth = residentMb() - before
  noteFault('hostile bodies', {
    ...Object.fromEntries(Object.entries(statuses).map(([status, count]) => [status, count])),
    'growth in MB': growth,
  })
  for (const status of [200, 400, 401, 413, 415, 429])
    expect(statuses[status] ?? 0).toBeGreaterThan(0)
  expect(growth).toBeLessThan(MOST_GROWTH_MB)
})

function residentMb(): number {
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
}
