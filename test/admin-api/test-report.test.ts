import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import type { RateLimit } from '../../runtime/limits/rate-counters.ts'
import { newApiKey, secretHash } from '../../schemas/access/api-key.ts'
import { closeAfterwards } from '../closing.ts'
import { T0 } from '../samples.ts'
import { startIngest, type IngestHarness } from '../ingest-api/ingest-harness.ts'
import { bearer, startAdmin, type AdminHarness } from './admin-harness.ts'

let harness: AdminHarness

const REPORT = { deviceId: 'tug', latitude: 52.5, longitude: 13.4 }

function startAt(internal: string | undefined) {
  const forSenders = () => 'http://for.senders:1'
  const ingest = { forSenders, testSecret: 'ours', ...(internal && { internal }) }
  return startAdmin({ ingest, pastedKeyLimit: 'usual' })
}

/** Both APIs, with the same keys. */
async function startBoth(auth: RateLimit | 'off' = 'off'): Promise<IngestHarness> {
  const ingest: IngestHarness = await startIngest({
    rateLimits: { auth },
    testSecret: 'ours',
    wrapKeys: () => ({ findGrant: (hash) => harness.store.findGrant(hash) }),
  })
  closeAfterwards(() => ingest.close())
  harness = await startAt(ingest.url)
  return ingest
}

/** A server other than the ingest API, and the requests that it got. */
async function somebodyElse(handle: Parameters<typeof createServer>[1]) {
  const server: Server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closeAfterwards(() => new Promise((resolve) => server.close(resolve)))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function send(body: unknown, headers?: Record<string, string>) {
  return harness.api('POST', '/test-report', {
    headers: headers ?? (await harness.createSession()),
    body,
  })
}

const writing = () => harness.createKey({ scopes: ['positions:write'] })

test('a test report is a report like any other, and its response is passed on', async () => {
  const ingest = await startBoth()
  const { id, secret } = await writing()
  const { body, status } = await send({ key: secret, report: REPORT })
  expect(status).toBe(200)
  expect(body.data).toMatchObject({
    status: 200,
    body: { success: true, code: 200, data: { recordId: expect.any(String) } },
  })
  expect(await ingest.logged()).toMatchObject([{ ...REPORT, accountId: 'acc-1', keyId: id }])
})

test('a test report that is rejected says why, with the status a device would get', async () => {
  const ingest = await startBoth()
  const { secret } = await writing()
  const faulty = await send({ key: secret, report: { ...REPORT, latitude: 91 } })
  expect(faulty.body.data).toMatchObject({
    status: 400,
    body: { error: 'INVALID_PARAMS', details: [{ field: 'latitude' }] },
  })
  const reading = await harness.createKey({ scopes: ['positions:read'] })
  const forbidden = await send({ key: reading.secret, report: REPORT })
  expect(forbidden.body.data).toMatchObject({ status: 403, body: { error: 'FORBIDDEN' } })
  const revoked = await harness.createKey({ revokedAt: T0 })
  const unknown = await send({ key: revoked.secret, report: REPORT })
  expect(unknown.body.data).toMatchObject({ status: 401, body: { error: 'UNAUTHORIZED' } })
  expect(await ingest.logged()).toEqual([])
})

test('a test report with a key that is not in force is a 401 without being sent', async () => {
  let asked = 0
  const url = await somebodyElse((_, response) => {
    asked += 1
    response.end()
  })
  harness = await startAt(url)
  const revoked = await harness.createKey({ revokedAt: T0 })
  const expired = await harness.createKey({ expiresAt: T0 })
  const rotated = await writing()
  await harness.store.rotateKey({
    accountId: 'acc-1',
    keyId: rotated.id,
    hint: 'gps_…',
    secretHash: secretHash(newApiKey()),
    previousValidUntil: T0,
  })
  for (const { secret } of [revoked, expired, rotated]) {
    const { body } = await send({ key: secret, report: REPORT })
    expect(body.data).toMatchObject({ status: 401, body: { error: 'UNAUTHORIZED' } })
  }
  expect(asked).toBe(0)
})

test('a test report is accepted from an address whose other clients keep sending unknown keys', async () => {
  const ingest = await startBoth({ points: 3, seconds: 60 })
  const statuses = []
  for (let n = 0; n < 4; n += 1) statuses.push((await ingest.submit(REPORT, { key: 'x' })).status)
  expect(statuses).toEqual([401, 401, 401, 429])
  const { secret } = await writing()
  expect((await send({ key: secret, report: REPORT })).body.data).toMatchObject({ status: 200 })
})

test('a test report with a key of another account, or none, is a 404 and is not sent', async () => {
  let asked = 0
  const url = await somebodyElse((_, response) => {
    asked += 1
    response.end()
  })
  harness = await startAt(url)
  const foreign = await harness.createKey({ accountId: 'acc-2', scopes: ['positions:write'] })
  for (const key of [foreign.secret, newApiKey(), 'text']) {
    const answer = await send({ key, report: REPORT })
    expect(answer.status).toBe(404)
    expect(answer.body.error).toBe('NOT_FOUND')
  }
  expect(asked).toBe(0)
})

test('a test report is audited without its key and content', async () => {
  await startBoth()
  const { id, secret } = await writing()
  await send({ key: secret, report: { ...REPORT, deviceId: 'secret-place' } })
  const headers = await harness.createSession()
  const audit = await harness.api('GET', '/audit', { headers })
  expect(audit.body.data?.items).toMatchObject([
    { action: 'key.tested', subject: { kind: 'key', id }, details: { status: 200 } },
  ])
  expect(audit.text).not.toMatch(/secret-place|gps_[0-9A-Za-z]{20}/)
})

test.each([
  ['that is not there', undefined],
  ['that speaks something else', 'text'],
  ['that repeats the key', 'echo'],
  ['that sends elsewhere', 'redirect'],
] as const)(
  'a test report to an ingest API %s is a 503, and the key is in no log',
  async (_, kind) => {
    const keys: string[] = []
    const elsewhere = await somebodyElse((request, response) => {
      keys.push(request.headers.authorization ?? '')
      response.end('{"success":true}')
    })
    const url = await somebodyElse((request, response) => {
      const { authorization = '' } = request.headers
      if (kind === 'redirect') response.writeHead(307, { Location: elsewhere })
      response.end(kind === 'echo' ? authorization.slice(7) : '<html>')
    })
    harness = await startAt(kind === undefined ? 'http://127.0.0.1:9' : url)
    const { secret } = await writing()
    const answer = await send({ key: secret, report: REPORT })
    expect(answer.status).toBe(503)
    expect(answer.body.message).toBe('the ingest API cannot be reached, please try again')
    expect(answer.text).not.toContain(secret)
    expect(harness.logged.join('')).toContain('answered with 503')
    expect(harness.logged.join('')).not.toContain(secret.slice(4))
    expect(keys).toEqual([])
  },
)

test('a test report is a 503 that says what to set where the address is unknown', async () => {
  harness = await startAt(undefined)
  const { secret } = await writing()
  const answer = await send({ key: secret, report: REPORT })
  expect(answer.status).toBe(503)
  expect(answer.body.message).toContain('INGEST_INTERNAL_URL')
})

test('a test report is limited to 10 a minute', async () => {
  const ingest = await startBoth()
  const { secret } = await writing()
  const admin = await harness.createKey()
  const statuses = []
  for (let n = 0; n < 11; n += 1) {
    const report = { ...REPORT, deviceId: `tug-${n}` }
    statuses.push((await send({ key: secret, report }, bearer(admin.secret))).status)
  }
  expect(statuses).toEqual([...Array<number>(10).fill(200), 429])
  expect(await ingest.logged()).toHaveLength(10)
})
