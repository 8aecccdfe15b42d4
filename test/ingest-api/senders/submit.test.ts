import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import type { EventLog } from '../../../event-log/event-log.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { createLogger } from '../../../runtime/logger.ts'
import type { Store } from '../../../store/store.ts'
import { eventually } from '../../eventually.ts'
import { T0 } from '../../samples.ts'
import { startIngest, type Answer, type IngestHarness } from '../ingest-harness.ts'

const minimal = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }

let ingest: IngestHarness
let key: string

beforeAll(async () => {
  ingest = await startIngest()
  key = (await ingest.createKey()).secret
})

afterAll(() => ingest.close())

function expectRefused(answer: Answer, status: number, error: string): void {
  expect({ status: answer.status, ...answer.body }).toMatchObject({
    status,
    success: false,
    code: status,
    error,
    message: expect.stringMatching(/./) as unknown,
  })
  expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]+$/)
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
}

describe('an accepted report', () => {
  test('is answered with its recordId and time of receipt, and stands in the log', async () => {
    const before = (await ingest.logged()).length
    const report = {
      ...minimal,
      timestamp: '2025-12-31T23:00:00+00:30',
      accuracy: 5,
      altitude: 300.5,
      speed: 1.5,
      heading: 90,
      battery: 0.75,
      unknown: true,
    }
    const answer = await ingest.submit(report, { key })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: true,
      code: 200,
      message: 'Position accepted',
      data: {
        recordId: expect.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/) as unknown,
        receivedAt: '2026-01-01T00:00:00.000Z',
      },
    })
    expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
    const events = await ingest.logged()
    expect(events.length).toBe(before + 1)
    expect(events.at(-1)).toEqual({
      recordId: (answer.body['data'] as { recordId: string }).recordId,
      accountId: 'acc-1',
      keyId: 'key-1',
      deviceId: 'tracker-1',
      latitude: 46.05,
      longitude: 14.5,
      timestamp: Date.UTC(2025, 11, 31, 22, 30),
      timestampSource: 'device',
      receivedAt: T0,
      accuracy: 5,
      altitude: 300.5,
      speed: 1.5,
      heading: 90,
      battery: 0.75,
    })
  })

  test('without a timestamp is of the server’s time', async () => {
    const answer = await ingest.submit(minimal, { key })
    expect(answer.status).toBe(200)
    expect((await ingest.logged()).at(-1)).toMatchObject({
      timestamp: T0,
      timestampSource: 'server',
      receivedAt: T0,
    })
  })

  test('sent again keeps its recordId, with a timestamp or an Idempotency-Key', async () => {
    const timed = { ...minimal, timestamp: '2025-12-31T10:00:00Z' }
    const ids = async (report: object, headers: Record<string, string>) => {
      const answers = [
        await ingest.submit(report, { key, headers }),
        await ingest.submit(report, { key, headers }),
      ]
      return answers.map(({ body }) => (body['data'] as { recordId: string }).recordId)
    }
    const [first, again] = await ids(timed, {})
    expect(again).toBe(first)
    const [named, namedAgain] = await ids(minimal, { 'Idempotency-Key': 'trip-7/1' })
    expect(namedAgain).toBe(named)
    const [plain, plainAgain] = await ids(minimal, {})
    expect(plainAgain).not.toBe(plain)
  })

  test('may name the scheme in any case and carry any JSON media type', async () => {
    const answer = await ingest.submit(minimal, {
      headers: {
        Authorization: `bEARER ${key}`,
        'Content-Type': 'Application/vnd.Tracker+JSON; charset=utf-8',
        'Content-Encoding': 'identity',
        'X-Request-Id': 'trace-42',
      },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-request-id')).toBe('trace-42')
  })

  test('is not named by an X-Request-Id that holds an API key', async () => {
    const answer = await ingest.submit(minimal, { key, headers: { 'X-Request-Id': `a:${key}` } })
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('of duplicate JSON keys the last one counts', async () => {
    const text = '{"deviceId":"a","deviceId":"tracker-2","latitude":1,"longitude":2,"latitude":3}'
    expect((await ingest.submit(text, { key })).status).toBe(200)
    expect((await ingest.logged()).at(-1)).toMatchObject({ deviceId: 'tracker-2', latitude: 3 })
  })
})

describe('a report with a fault is refused, named, and does not reach the log', () => {
  const refused: [what: string, body: unknown, fields: string[]][] = [
    ['without a deviceId', { latitude: 1, longitude: 2 }, ['deviceId']],
    ['with a null deviceId', { ...minimal, deviceId: null }, ['deviceId']],
    ['with a deviceId that is a number', { ...minimal, deviceId: 7 }, ['deviceId']],
    ['with an empty deviceId', { ...minimal, deviceId: '' }, ['deviceId']],
    ['with a deviceId of 129 characters', { ...minimal, deviceId: 'x'.repeat(129) }, ['deviceId']],
    ['with a control character', { ...minimal, deviceId: 'a\u0007' }, ['deviceId']],
    ['with a lone surrogate', '{"deviceId":"\\ud800","latitude":1,"longitude":2}', ['deviceId']],
    ['with white space around the deviceId', { ...minimal, deviceId: ' a' }, ['deviceId']],
    ['with a deviceId of dots', { ...minimal, deviceId: '..' }, ['deviceId']],
    ['without a latitude', { deviceId: 'a', longitude: 2 }, ['latitude']],
    ['with a latitude that is text', { ...minimal, latitude: '46.05' }, ['latitude']],
    ['with a latitude beyond the pole', { ...minimal, latitude: 90.0000001 }, ['latitude']],
    ['with an infinite latitude', '{"deviceId":"a","latitude":1e999,"longitude":2}', ['latitude']],
    ['with a latitude that is true', { ...minimal, latitude: true }, ['latitude']],
    ['without a longitude', { deviceId: 'a', latitude: 2 }, ['longitude']],
    ['with a longitude in a list', { ...minimal, longitude: [5] }, ['longitude']],
    ['with a longitude beyond the date line', { ...minimal, longitude: -180.1 }, ['longitude']],
    ['with a timestamp that is a number', { ...minimal, timestamp: 1769862615 }, ['timestamp']],
    ['with a date alone', { ...minimal, timestamp: '2026-01-01' }, ['timestamp']],
    ['with February 30', { ...minimal, timestamp: '2025-02-30T00:00:00Z' }, ['timestamp']],
    ['from before 2000', { ...minimal, timestamp: '1999-12-31T23:59:59Z' }, ['timestamp']],
    [
      'from the day after tomorrow',
      { ...minimal, timestamp: '2026-01-02T00:00:01Z' },
      ['timestamp'],
    ],
    ['with a negative accuracy', { ...minimal, accuracy: -1 }, ['accuracy']],
    ['with an altitude below the sea floor', { ...minimal, altitude: -12_001 }, ['altitude']],
    ['with an altitude in space', { ...minimal, altitude: 100_001 }, ['altitude']],
    ['with a negative speed', { ...minimal, speed: -0.1 }, ['speed']],
    ['with a heading of 361', { ...minimal, heading: 361 }, ['heading']],
    ['with a battery in percent', { ...minimal, battery: 80 }, ['battery']],
    [
      'with several faults',
      { latitude: 91, battery: -1 },
      ['deviceId', 'latitude', 'longitude', 'battery'],
    ],
    ['that is malformed JSON', '{"deviceId":"a"', ['body']],
    ['that is a list', [minimal], ['body']],
    ['that is a text', '"report"', ['body']],
    ['that is null', 'null', ['body']],
    ['that is empty', '', ['body']],
    ['that is not UTF-8', Buffer.from('{"deviceId":"\xe9"}', 'latin1'), ['body']],
  ]

  test.each(refused)('%s', async (_what, body, fields) => {
    const before = (await ingest.logged()).length
    const answer = await ingest.submit(body, { key })
    expectRefused(answer, 400, 'INVALID_PARAMS')
    const details = answer.body['details'] as { field: string; message: string }[]
    expect(details.map(({ field }) => field)).toEqual(fields)
    for (const field of fields) expect(answer.body['message']).toContain(field)
    expect((await ingest.logged()).length).toBe(before)
  })

  test.each([
    ['empty', ''],
    ['256 characters long', 'k'.repeat(256)],
    ['with a space', 'a b'],
    ['not ASCII', 'caf\u00e9'],
  ])('with an Idempotency-Key that is %s', async (_what, value) => {
    const before = (await ingest.logged()).length
    const answer = await ingest.submit(minimal, { key, headers: { 'Idempotency-Key': value } })
    expectRefused(answer, 400, 'INVALID_PARAMS')
    expect(answer.body['message']).toContain('Idempotency-Key')
    expect((await ingest.logged()).length).toBe(before)
  })
})

describe('size and type of the body', () => {
  test('16 KiB pass and one byte more does not', async () => {
    const padded = (bytes: number) => {
      const text = JSON.stringify({ ...minimal, note: '' })
      return text.replace('""', `"${'n'.repeat(bytes - text.length)}"`)
    }
    expect((await ingest.submit(padded(16 * 1024), { key })).status).toBe(200)
    const before = (await ingest.logged()).length
    const tooLarge = await ingest.submit(padded(16 * 1024 + 1), { key })
    expectRefused(tooLarge, 413, 'PAYLOAD_TOO_LARGE')
    expect((await ingest.logged()).length).toBe(before)
  })

  test('a body of undeclared length is refused as soon as it is too large', async () => {
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(8 * 1024)),
    })
    const answer = await ingest.request('/api/v1/gps/submit', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
      body: endless,
      duplex: 'half',
    })
    expectRefused(answer, 413, 'PAYLOAD_TOO_LARGE')
    expect(answer.headers.get('connection')).toBe('close')
  })

  test.each([
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['plain text', { 'Content-Type': 'text/plain' }],
    ['an unknown encoding', { 'Content-Encoding': 'zstd' }],
  ])('%s is no JSON', async (_what, headers) => {
    const answer = await ingest.submit(minimal, { key, headers })
    expectRefused(answer, 415, 'UNSUPPORTED_MEDIA_TYPE')
  })
})

describe('paths and methods', () => {
  test('an unknown path is 404 and a wrong method 405 with Allow', async () => {
    expectRefused(await ingest.request('/api/v1/gps/nowhere'), 404, 'NOT_FOUND')
    expectRefused(await ingest.request('/api/v1/gps/submit/', { method: 'POST' }), 404, 'NOT_FOUND')
    expectRefused(await ingest.request('/metrics/'), 404, 'NOT_FOUND')
    expectRefused(await ingest.request('/api/v2/gps/submit', { method: 'POST' }), 404, 'NOT_FOUND')
    const wrong = await ingest.request('/api/v1/gps/submit')
    expectRefused(wrong, 405, 'METHOD_NOT_ALLOWED')
    expect(wrong.headers.get('allow')).toBe('POST')
  })

  test('path and method are judged before the key', async () => {
    expect((await ingest.request('/api/v1/gps/submit', { method: 'PUT' })).status).toBe(405)
  })

  test('the root answers with the name and the version, also to HEAD', async () => {
    const root = await ingest.request('/')
    expect(root.body).toMatchObject({ data: { service: 'gps-ingest-api', version: '0.1.0' } })
    expect((await ingest.request('/', { method: 'HEAD' })).status).toBe(200)
  })
})

test('a client that is gone in the middle of its body is one line for debugging', async () => {
  const lines: unknown[][] = []
  const logger = createLogger({ level: 'silent', name: 'test' })
  logger.debug = (...line: unknown[]) => void lines.push(line)
  const spied = jest.spyOn(console, 'error').mockImplementation(() => undefined)
  let asked = false
  const wrapKeys = (store: Store) => ({
    findGrant: (hash: Uint8Array) => {
      asked = true
      return store.findGrant(hash)
    },
  })
  const own = await startIngest({ logger, wrapKeys })
  const { secret } = await own.createKey()
  const socket = connect(Number(new URL(own.url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    `POST /api/v1/gps/submit HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"deviceId"',
  )
  await eventually(() => asked)
  await new Promise((resolve) => setTimeout(resolve, 20))
  socket.resetAndDestroy()
  await eventually(() => lines.length > 0)
  await own.close()
  expect(lines).toEqual([[{ requestId: expect.any(String) as unknown }, 'the caller has gone']])
  expect(spied).not.toHaveBeenCalled()
  spied.mockRestore()
})

describe('operations', () => {
  test('it is alive and ready, and not ready once it stops', async () => {
    expect((await ingest.request('/healthz')).status).toBe(200)
    expect((await ingest.request('/readyz')).status).toBe(200)
    const stopping = await startIngest()
    stopping.stopping.abort()
    const answer = await stopping.request('/readyz')
    expectRefused(answer, 503, 'SERVICE_UNAVAILABLE')
    expect(answer.body['message']).toContain('stopping')
    expect(answer.headers.get('retry-after')).toBe('1')
    await stopping.close()
  })

  test('metrics count reports by outcome', async () => {
    await ingest.submit(minimal, { key })
    await ingest.submit({}, { key })
    const { text } = (await ingest.request('/metrics')).body as { text: string }
    expect(text).toMatch(/gps_reports_total\{outcome="accepted"\} \d+/)
    expect(text).toMatch(/gps_reports_total\{outcome="INVALID_PARAMS"\} \d+/)
    expect(text).toMatch(/gps_http_requests_total\{.*route="\/api\/v1\/gps\/submit",code="200"\}/)
  })
})

describe('without a log that takes it, no report is acknowledged', () => {
  async function submitTo(append: EventLog['append']) {
    const cut = await startIngest({ wrapLog: (log) => ({ append, ready: () => log.ready() }) })
    const { secret } = await cut.createKey()
    const answer = await cut.submit(minimal, { key: secret })
    await cut.close()
    return answer
  }

  test('503 with Retry-After where it may go better later', async () => {
    const answer = await submitTo(async () => {
      throw new DependencyError('disk full at /var/lib/gps', { retriable: true })
    })
    expectRefused(answer, 503, 'SERVICE_UNAVAILABLE')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(JSON.stringify(answer.body)).not.toContain('/var/lib')
  })

  test('503 within 6 s where the store hangs too', async () => {
    let hang = false
    const cut = await startIngest({
      wrapKeys: (store) => ({
        findGrant: (hash) => (hang ? new Promise(() => undefined) : store.findGrant(hash)),
      }),
      wrapLog: (log) => ({
        append: (events) => (hang ? new Promise(() => undefined) : log.append(events)),
        ready: () => log.ready(),
      }),
    })
    const { secret } = await cut.createKey()
    expect((await cut.submit(minimal, { key: secret })).status).toBe(200)
    hang = true
    cut.clock.time += 10_000
    const started = performance.now()
    expectRefused(await cut.submit(minimal, { key: secret }), 503, 'SERVICE_UNAVAILABLE')
    expect(performance.now() - started).toBeLessThan(6_000)
    await cut.close()
  }, 20_000)

  test('500 for a fault of ours, which says nothing of our insides', async () => {
    const answer = await submitTo(async () => {
      throw new TypeError('events is not iterable')
    })
    expectRefused(answer, 500, 'SERVER_ERROR')
    expect(JSON.stringify(answer.body)).not.toContain('iterable')
  })
})
