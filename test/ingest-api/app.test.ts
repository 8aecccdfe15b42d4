import { describe, expect, test } from '@jest/globals'
import { VERSION } from '../../runtime/process/instance.ts'
import { expectRefused } from './expect-refused.ts'
import { ingestForAllTests, startIngest, type IngestHarness } from './ingest-harness.ts'

const minimal = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }

let ingest: IngestHarness
let key: string
ingestForAllTests((given) => ({ ingest, key } = given))

describe('paths and methods', () => {
  test('an unknown path is a 404, and a wrong method a 405 with Allow', async () => {
    expectRefused(await ingest.request('/api/v1/gps/nowhere'), 404, 'NOT_FOUND')
    expectRefused(await ingest.request('/api/v1/gps/submit/', { method: 'POST' }), 404, 'NOT_FOUND')
    expectRefused(await ingest.request('/metrics/'), 404, 'NOT_FOUND')
    expectRefused(await ingest.request('/api/v2/gps/submit', { method: 'POST' }), 404, 'NOT_FOUND')
    const wrong = await ingest.request('/api/v1/gps/submit')
    expectRefused(wrong, 405, 'METHOD_NOT_ALLOWED')
    expect(wrong.headers.get('allow')).toBe('POST')
  })

  test('path and method are checked before the key', async () => {
    expect((await ingest.request('/api/v1/gps/submit', { method: 'PUT' })).status).toBe(405)
  })

  test('the root responds with the name and the version, also to HEAD', async () => {
    const root = await ingest.request('/')
    expect(root.body).toMatchObject({ data: { service: 'gps-ingest-api', version: VERSION } })
    expect((await ingest.request('/', { method: 'HEAD' })).status).toBe(200)
  })
})

describe('the routes of every service', () => {
  test('the service is healthy and ready, and not ready once it stops', async () => {
    expect((await ingest.request('/healthz')).status).toBe(200)
    expect((await ingest.request('/readyz')).status).toBe(200)
    const stopping = await startIngest()
    stopping.stopping.abort()
    const answer = await stopping.request('/readyz')
    expectRefused(answer, 503, 'SERVICE_UNAVAILABLE')
    expect(answer.body['message']).toBe('not ready: the service is stopping')
    expect(answer.headers.get('retry-after')).toMatch(/^[123]$/)
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
