import { describe, expect, test } from '@jest/globals'
import { T0 } from '../../samples.ts'
import { expectRefused } from '../expect-refused.ts'
import { ingestForAllTests, type IngestHarness } from '../ingest-harness.ts'

const minimal = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }

let ingest: IngestHarness
let key: string
ingestForAllTests((given) => ({ ingest, key } = given))

describe('accepted reports', () => {
  test('an accepted report gets its recordId and time of receipt, and is in the log', async () => {
    const before = (await ingest.logged()).length
    const report = {
      ...minimal,
      timestamp: '2025-12-31T23:00:00+00:30',
      accuracy: 5,
      altitude: 300.5,
      speed: 1.5,
      heading: 90,
      battery: 0.75,
      attributes: { odometer: 12.5, alarm: 'sos', none: null },
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
      attributes: { alarm: 'sos', odometer: 12.5 },
    })
  })

  test('an accepted report without a timestamp gets the server’s time', async () => {
    const answer = await ingest.submit(minimal, { key })
    expect(answer.status).toBe(200)
    expect((await ingest.logged()).at(-1)).toMatchObject({
      timestamp: T0,
      timestampSource: 'server',
      receivedAt: T0,
    })
  })

  test('an accepted report keeps its recordId when resent with a timestamp or an Idempotency-Key', async () => {
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

  test('a report may spell the scheme in any case and have any JSON media type', async () => {
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

  test('an accepted report does not get an X-Request-Id that contains an API key', async () => {
    const answer = await ingest.submit(minimal, { key, headers: { 'X-Request-Id': `a:${key}` } })
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('an accepted report with duplicate JSON keys uses the last one', async () => {
    const text = '{"deviceId":"a","deviceId":"tracker-2","latitude":1,"longitude":2,"latitude":3}'
    expect((await ingest.submit(text, { key })).status).toBe(200)
    expect((await ingest.logged()).at(-1)).toMatchObject({ deviceId: 'tracker-2', latitude: 3 })
  })
})

test('a misspelt field is named in the response, and in the rejection', async () => {
  const place = { deviceId: 'van', latitude: 1, longitude: 2 }
  const accepted = await ingest.submit({ ...place, accurracy: 5 }, { key })
  expect(accepted.body).toMatchObject({
    code: 200,
    message: 'Position accepted; ignored: accurracy',
  })
  const message =
    'latitude is required: a number from -90 to 90 (WGS84 degrees); ignored: lattitude'
  const sent = { deviceId: 'van', lattitude: 1, longitude: 2 }
  const refused = await ingest.submit(sent, { key })
  expect(refused.body).toMatchObject({ code: 400, error: 'INVALID_PARAMS', message })
  expect(refused.body['details']).toEqual([
    { field: 'latitude', message: 'latitude is required: a number from -90 to 90 (WGS84 degrees)' },
  ])
  const batch = await ingest.batch({ reports: [{ ...place, speeed: 1 }, sent] }, { key })
  expect(batch.body).toMatchObject({
    message: '1 accepted, 1 rejected; ignored: speeed, lattitude',
    data: { results: [{ index: 0 }, { index: 1, message }] },
  })
  expect(await ingest.rejected(2)).toMatchObject([{ message }, { message }])
})

describe('faulty reports', () => {
  const refused: [what: string, body: unknown, fields: string[]][] = [
    [
      'with several faults',
      { latitude: 91, battery: -1 },
      ['deviceId', 'latitude', 'longitude', 'battery'],
    ],
    [
      'with hostile attributes',
      `${JSON.stringify(minimal).slice(0, -1)},"attributes":{"__proto__":1,"deep":{"a":{}},"huge":1e400}}`,
      ['attributes.__proto__', 'attributes.deep', 'attributes.huge'],
    ],
    ['that is malformed JSON', '{"deviceId":"a"', ['body']],
    ['that is a list', [minimal], ['body']],
    ['that is a text', '"report"', ['body']],
    ['that is null', 'null', ['body']],
    ['that is empty', '', ['body']],
    ['that is not UTF-8', Buffer.from('{"deviceId":"\xe9"}', 'latin1'), ['body']],
  ]

  test.each(refused)(
    'a report with a fault is rejected by field name and does not reach the log: %s',
    async (_what, body, fields) => {
      const before = (await ingest.logged()).length
      const answer = await ingest.submit(body, { key })
      expectRefused(answer, 400, 'INVALID_PARAMS')
      const details = answer.body['details'] as { field: string; message: string }[]
      expect(details.map(({ field }) => field)).toEqual(fields)
      for (const field of fields) expect(answer.body['message']).toContain(field)
      expect((await ingest.logged()).length).toBe(before)
    },
  )

  test.each([
    ['empty', ''],
    ['256 characters long', 'k'.repeat(256)],
    ['with a space', 'a b'],
    ['not ASCII', 'caf\u00e9'],
  ])(
    'a report with an Idempotency-Key that is %s is rejected and does not reach the log',
    async (_what, value) => {
      const before = (await ingest.logged()).length
      const answer = await ingest.submit(minimal, { key, headers: { 'Idempotency-Key': value } })
      expectRefused(answer, 400, 'INVALID_PARAMS')
      expect(answer.body['message']).toContain('Idempotency-Key')
      expect((await ingest.logged()).length).toBe(before)
    },
  )
})
