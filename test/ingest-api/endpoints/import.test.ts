import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startIngest, type IngestHarness } from '../ingest-harness.ts'

let ingest: IngestHarness
let key: string

beforeAll(async () => {
  ingest = await startIngest({ rateLimits: { device: { points: 2, seconds: 60 } } })
  key = (await ingest.createKey({ scopes: ['positions:import', 'positions:write'] })).secret
})

afterAll(() => ingest.close())

const report = {
  deviceId: 'van',
  latitude: 54.3,
  longitude: 13.1,
  timestamp: '2019-05-01T12:00:00Z',
  accuracy: 5,
  battery: 0.5,
}

async function idsOf(reports: readonly object[], headers = {}): Promise<unknown[]> {
  const { status, body } = await ingest.import({ reports }, { key, headers })
  expect(status).toBe(200)
  const { results } = body['data'] as { results: { recordId: string }[] }
  return results.map(({ recordId }) => recordId)
}

describe('imports', () => {
  test('the import stores positions with their own time and marks them as imported', async () => {
    const [recordId] = await idsOf([report])
    const event = (await ingest.logged()).find((logged) => logged.recordId === recordId)
    expect(event).toMatchObject({
      deviceId: 'van',
      timestamp: Date.parse(report.timestamp),
      accuracy: 5,
      receivedAt: ingest.clock.now(),
      imported: true,
    })
  })

  test('the import rejects only a position without a timestamp', async () => {
    const untimed = { ...report, timestamp: undefined }
    const { body } = await ingest.import(
      { reports: [untimed, { ...untimed, timestamp: null }, report] },
      { key },
    )
    const data = body['data'] as { rejected: number; results: object[] }
    expect(data.rejected).toBe(2)
    expect(data.results[0]).toEqual({
      index: 0,
      error: 'INVALID_PARAMS',
      message:
        'timestamp is required for an imported position: the ISO 8601 time when it was recorded',
    })
  })

  test('the import identifies a position only by device, time and coordinates', async () => {
    const other = { ...report, accuracy: 9, speed: 3, attributes: { odometer: 1 } }
    const [one, again, elsewhere] = await idsOf([report, other, { ...report, latitude: 54.4 }])
    expect(again).toBe(one)
    expect(elsewhere).not.toBe(one)
  })

  test('the import distinguishes positions by their alarm', async () => {
    const alarm = { ...report, attributes: { alarm: 'sos', odometer: 1 } }
    const [one, sos, again] = await idsOf([report, alarm, { ...alarm, battery: 1 }])
    expect(sos).not.toBe(one)
    expect(again).toBe(sos)
  })

  test('the import recognises positions that an app has already sent', async () => {
    const query = `id=app&lat=54.3&lon=13.1&timestamp=${report.timestamp}&batt=80`
    await ingest.request(`/api/v1/senders/osmand/${key}?${query}`)
    const sent = (await ingest.logged()).find(({ deviceId }) => deviceId === 'app')
    expect(await idsOf([{ ...report, deviceId: 'app' }])).toEqual([sent?.recordId])
  })

  test('the import ignores an Idempotency-Key, even an invalid one', async () => {
    const [plain] = await idsOf([report])
    for (const value of ['trip-1', 'not valid']) {
      expect(await idsOf([report], { 'Idempotency-Key': value })).toEqual([plain])
    }
  })

  test('the import has no limit per device', async () => {
    const reports = Array.from({ length: 3 }, (_, n) => ({ ...report, longitude: n }))
    for (const one of reports)
      expect((await ingest.import({ reports: [one] }, { key })).status).toBe(200)
  })

  test('the import requires its own scope', async () => {
    const { secret } = await ingest.createKey({ scopes: ['positions:write'] })
    const { status, body } = await ingest.import({ reports: [report] }, { key: secret })
    expect([status, body['message']]).toEqual([
      403,
      'this API key lacks the scope positions:import',
    ])
    const importer = await ingest.createKey({ scopes: ['positions:import'] })
    expect((await ingest.submit(report, { key: importer.secret })).status).toBe(403)
  })
})

test('a key’s imports have a separate limit, not shared with reports or the key’s own limit', async () => {
  const rateLimits = { import: { points: 3, seconds: 60 }, key: { points: 100, seconds: 60 } }
  const limited = await startIngest({ rateLimits })
  const scopes = ['positions:import', 'positions:write'] as const
  const { secret } = await limited.createKey({ scopes, rateLimit: 1 })
  const send = (count: number) =>
    limited.import(
      { reports: Array.from({ length: count }, (_, n) => ({ ...report, longitude: n })) },
      { key: secret },
    )
  const fitting = await send(2)
  expect(fitting.headers.get('ratelimit-policy')).toBe('"import";q=3;w=60')
  expect((await send(2)).body['data']).toMatchObject({ accepted: 1, rejected: 1 })
  const { status, body } = await send(1)
  expect([status, body['error']]).toEqual([429, 'RATE_LIMITED'])
  expect((await limited.submit(report, { key: secret })).status).toBe(200)
  await limited.close()
})
