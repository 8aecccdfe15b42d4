import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { DependencyError } from '../../../runtime/errors.ts'
import { newApiKey } from '../../../schemas/access/api-key.ts'
import { T0 } from '../../samples.ts'
import { startIngest, type IngestHarness } from '../ingest-harness.ts'

const minimal = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }

let ingest: IngestHarness

beforeEach(async () => {
  ingest = await startIngest()
})

afterEach(() => ingest.close())

describe('rejected reports', () => {
  test('a rejected report of a known key is stored with its response, its device and its body', async () => {
    const { id, secret } = await ingest.createKey()
    const report = { ...minimal, latitude: '46.05' }
    const answer = await ingest.submit(report, { key: secret })
    expect(answer.status).toBe(400)
    expect(await ingest.rejected(1)).toEqual([
      {
        rejectionId: expect.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/) as unknown,
        accountId: 'acc-1',
        keyId: id,
        receivedAt: T0,
        error: 'INVALID_PARAMS',
        message: answer.body['message'],
        deviceId: 'tracker-1',
        body: JSON.stringify(report),
        count: 1,
      },
    ])
  })

  test.each([
    ['no JSON', '{"deviceId":"tracker-1"', 400, { body: '{"deviceId":"tracker-1"' }],
    ['no object', '["tracker-1"]', 400, { body: '["tracker-1"]' }],
    ['null', 'null', 400, { body: 'null' }],
    ['a device that is not a text', '{"deviceId":7}', 400, { body: '{"deviceId":7}' }],
    ['an empty device', '{"deviceId":""}', 400, { deviceId: '', body: '{"deviceId":""}' }],
    ['nothing', '', 400, {}],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 400, {}],
    ['UTF-16', Buffer.from('{}', 'utf16le'), 400, {}],
    ['too much by its declared size', 'x'.repeat(16_385), 413, {}],
  ] as const)(
    'a refused body that is %s is stored as far as it was read',
    async (_name, body, status, content) => {
      const { id, secret } = await ingest.createKey()
      expect((await ingest.submit(body, { key: secret })).status).toBe(status)
      const [rejection] = await ingest.rejected(1)
      const error = status === 400 ? 'INVALID_PARAMS' : 'PAYLOAD_TOO_LARGE'
      expect(rejection).toMatchObject({ keyId: id, error, count: 1, ...content })
      expect({ body: rejection?.body }).toEqual({
        body: 'body' in content ? content.body : undefined,
      })
    },
  )

  test('a report found too large while it is read is stored with its start', async () => {
    const { secret } = await ingest.createKey()
    expect(await submitInChunks('y'.repeat(20_000), secret)).toBe(413)
    const [rejection] = await ingest.rejected(1)
    expect(rejection).toMatchObject({ error: 'PAYLOAD_TOO_LARGE', body: 'y'.repeat(2_048) })
  })

  test('a rejected report of a known key is stored if the key lacks the scope, the device or the account', async () => {
    await ingest.store.createAccount({ id: 'acc-2', name: 'B', suspended: true, createdAt: T0 })
    const reader = await ingest.createKey({ scopes: ['positions:read'] })
    const suspended = await ingest.createKey({ accountId: 'acc-2' })
    const listed = await ingest.createKey({ deviceIds: ['van-7'] })
    for (const { secret } of [reader, suspended, listed]) {
      expect((await ingest.submit(minimal, { key: secret })).status).toBe(403)
    }
    const forbidden = { error: 'FORBIDDEN', count: 1 }
    const rejections = await ingest.rejected(3)
    expect(rejections).toMatchObject([
      { ...forbidden, keyId: reader.id, message: expect.stringContaining('scope') as unknown },
      { ...forbidden, keyId: suspended.id, accountId: 'acc-2' },
      { ...forbidden, keyId: listed.id, deviceId: 'tracker-1', body: JSON.stringify(minimal) },
    ])
    // Not read by then.
    expect(rejections[0]).not.toHaveProperty('body')
    expect(rejections[1]).not.toHaveProperty('deviceId')
  })
})

test('accepted reports, reports without a known key, and internal failures cause no rejection', async () => {
  let away = false
  const flaky = await startIngest({
    wrapLog: (log) => ({
      ready: () => log.ready(),
      append: async (events) => {
        if (away) throw new DependencyError('the log is away', { retriable: true })
        await log.append(events)
      },
    }),
  })
  const { secret } = await flaky.createKey()
  const expired = await flaky.createKey({ expiresAt: T0 })
  const statuses = [
    await flaky.submit(minimal, { key: secret }),
    await flaky.submit({}, { key: newApiKey() }),
    await flaky.submit({}, { key: expired.secret }),
    await flaky.submit({}),
    await flaky.submit({}, { key: secret, headers: { 'Content-Type': 'text/plain' } }),
    await flaky.request('/api/v1/gps/submit', { headers: { Authorization: `Bearer ${secret}` } }),
    await flaky.request('/api/v1/gps', { headers: { Authorization: `Bearer ${secret}` } }),
  ].map(({ status }) => status)
  away = true
  statuses.push((await flaky.submit(minimal, { key: secret })).status)
  expect(statuses).toEqual([200, 401, 401, 401, 415, 405, 404, 503])
  // A report that is stored, so that the test can wait for it.
  await flaky.submit({}, { key: secret })
  expect(await flaky.rejected(1)).toHaveLength(1)
  expect(await flaky.metrics.registry.metrics()).toContain('gps_rejections_total{outcome="kept"} 1')
  await flaky.close()
})

/** Without a Content-Length, so that its size shows only as it is read. */
function submitInChunks(body: string, key: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${ingest.url}/api/v1/gps/submit`,
      {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
      },
      (response) => {
        response.resume()
        resolve(response.statusCode)
      },
    )
    sent.on('error', reject)
    sent.flushHeaders()
    sent.end(body)
  })
}
