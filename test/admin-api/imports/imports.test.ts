import { afterEach, expect, jest, test } from '@jest/globals'
import { eventually } from '../../eventually.ts'
import { fakeTimers } from '../../fake-timers.ts'
import { closeAfterwards } from '../../closing.ts'
import { startIngest, type IngestHarness } from '../../ingest-api/ingest-harness.ts'
import { T0 } from '../../samples.ts'
import { startAdmin, type AdminHarness } from '../admin-harness.ts'

afterEach(() => void jest.useRealTimers())

let harness: AdminHarness

/** Both APIs, with the same keys. */
async function startBoth(
  findGrant = (hash: Uint8Array) => harness.store.findGrant(hash),
): Promise<IngestHarness> {
  const ingest: IngestHarness = await startIngest({ wrapKeys: () => ({ findGrant }) })
  closeAfterwards(() => ingest.close())
  harness = await startAdmin({
    operator: { role: 'dispatcher' },
    ingest: { forSenders: () => undefined, internal: ingest.url },
  })
  return ingest
}

const report = (minute: number) => ({
  deviceId: 'phone',
  latitude: 52.5,
  longitude: 13.4,
  timestamp: new Date(T0 - minute * 60_000).toISOString(),
})

const begin = async (headers: Record<string, string>) =>
  String((await harness.api('POST', '/imports', { headers })).body.data?.['id'])

const send = (id: string, headers: Record<string, string>, reports: unknown) =>
  harness.api('POST', `/imports/${id}/positions`, { headers, body: { reports } })

const keyOf = (keyId: string) => harness.store.findKey({ accountId: 'acc-1', keyId })

test('positions that the console sends are imported, and the response of the ingest API is passed on', async () => {
  const ingest = await startBoth()
  const headers = await harness.createSession()
  const begun = await harness.api('POST', '/imports', { headers })
  expect(begun.status).toBe(201)
  expect(begun.text).not.toContain('gps_')
  const id = String(begun.body.data?.['id'])
  const { status, body } = await send(id, headers, [report(1), { ...report(2), latitude: 91 }])
  expect(status).toBe(200)
  expect(body.data).toMatchObject({
    accepted: 1,
    rejected: 1,
    results: [
      { index: 0, recordId: expect.any(String) },
      { index: 1, error: 'INVALID_PARAMS' },
    ],
  })
  expect(await ingest.logged()).toMatchObject([{ ...at(1), imported: true, accountId: 'acc-1' }])
  expect(await keyOf(id)).toMatchObject({
    scopes: ['positions:import'],
    expiresAt: harness.clock.now() + 3_600_000,
  })
})

function at(minute: number) {
  return { deviceId: 'phone', timestamp: T0 - minute * 60_000 }
}

test('ending an import revokes its key, and later requests are rejected', async () => {
  await startBoth()
  const headers = await harness.createSession()
  const id = await begin(headers)
  expect((await harness.api('DELETE', `/imports/${id}`, { headers })).status).toBe(200)
  expect((await keyOf(id))?.revokedAt).toBe(harness.clock.now())
  expect(await send(id, headers, [report(1)])).toMatchObject({
    status: 404,
    body: { message: 'this import has ended: start another' },
  })
  const audit = JSON.stringify(await harness.store.pageAudit({ accountId: 'acc-1', limit: 9 }))
  for (const action of ['import.begun', 'import.ended']) expect(audit).toContain(action)
  expect(audit).not.toContain('gps_')
})

test('an import belongs to the session that started it', async () => {
  await startBoth()
  const id = await begin(await harness.createSession())
  const other = await harness.createSession()
  expect((await send(id, other, [report(1)])).status).toBe(404)
  expect((await harness.api('DELETE', `/imports/${id}`, { headers: other })).status).toBe(404)
})

test.each([
  [
    'signing out',
    (headers: Record<string, string>) => harness.api('DELETE', '/session', { headers }),
  ],
  ['its hour', async () => void (harness.clock.time += 3_600_000)],
  ['the end of the process', async () => harness.stopping.abort()],
])('%s revokes the key of an import', async (_, end) => {
  fakeTimers('setInterval')
  await startBoth()
  const headers = await harness.createSession()
  const id = await begin(headers)
  await end(headers)
  await eventually(async () => {
    jest.advanceTimersByTime(5_000)
    return (await keyOf(id))?.revokedAt !== undefined
  })
})

test('an ingest API that does not respond is a 503, and the import can be continued', async () => {
  harness = await startAdmin({
    ingest: { forSenders: () => undefined, internal: 'http://127.0.0.1:1' },
  })
  const headers = await harness.createSession()
  const id = await begin(headers)
  const answer = await send(id, headers, [report(1)])
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
  expect((await keyOf(id))?.revokedAt).toBeUndefined()
})

test('an ingest API that does not know the key of an import yet is a 503', async () => {
  await startBoth(() => Promise.resolve(undefined))
  const headers = await harness.createSession()
  expect(await send(await begin(headers), headers, [report(1)])).toMatchObject({
    status: 503,
    body: { message: 'the ingest API rejected the import, please try again' },
  })
})

test('an account has at most 20 imports in progress; starting another ends one unused for five minutes', async () => {
  await startBoth()
  const headers = await harness.createSession()
  const begins = await Promise.all(
    Array.from({ length: 25 }, () => harness.api('POST', '/imports', { headers })),
  )
  const statuses = begins.map(({ status }) => status).sort()
  expect(statuses).toEqual([...Array<number>(20).fill(201), ...Array<number>(5).fill(409)])
  const ids = begins.flatMap(({ body }) => (body.data ? [String(body.data['id'])] : []))
  harness.clock.time += 4 * 60_000
  for (const id of ids.slice(1)) expect((await send(id, headers, [report(1)])).status).toBe(200)
  harness.clock.time += 60_000
  expect((await harness.api('POST', '/imports', { headers })).status).toBe(201)
  expect((await send(ids[0]!, headers, [report(1)])).status).toBe(404)
  expect((await harness.api('POST', '/imports', { headers })).body).toMatchObject({
    code: 409,
    message: 'an account has at most 20 imports in progress: wait until one ends, or stop one',
  })
  await harness.api('DELETE', `/imports/${ids[1]}`, { headers })
  expect((await harness.api('POST', '/imports', { headers })).status).toBe(201)
})

test('positions that are nested too deep are a 400', async () => {
  await startBoth()
  const headers = await harness.createSession()
  const id = await begin(headers)
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const body = `{"reports":[{"deviceId":"van","note":"[[","attributes":${deep}}]}`
  const answer = await harness.api('POST', `/imports/${id}/positions`, { headers, body })
  expect(answer.body).toMatchObject({ code: 400, details: [{ field: 'body' }] })
})
