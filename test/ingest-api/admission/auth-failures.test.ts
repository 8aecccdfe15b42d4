import { afterEach, describe, expect, test } from '@jest/globals'
import { newApiKey } from '../../../schemas/access/api-key.ts'
import { T0 } from '../../samples.ts'
import { startIngest, type Answer, type IngestHarness } from '../ingest-harness.ts'

const minimal = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }

let ingest: IngestHarness
let lookUps = 0

async function start({ points = 5, trustProxy = 0, testSecret = 'ours' } = {}) {
  lookUps = 0
  ingest = await startIngest({
    rateLimits: { auth: { points, seconds: 60 } },
    trustProxy,
    testSecret,
    wrapKeys: (store) => ({
      findGrant: (hash) => {
        lookUps += 1
        return store.findGrant(hash)
      },
    }),
  })
}

afterEach(() => ingest.close())

const submit = (key: string | undefined, headers: Record<string, string> = {}) =>
  ingest.submit(minimal, { ...(key !== undefined && { key }), headers })

const statusOf = async (key: string | undefined, headers?: Record<string, string>) =>
  (await submit(key, headers)).status

const mark = (secret: string) => ({ 'X-Test-Report': secret })

/** Uses up the failures of an address. */
async function fail(times: number, headers?: Record<string, string>): Promise<void> {
  for (let n = 0; n < times; n += 1) expect(await statusOf('malformed', headers)).toBe(401)
}

describe('addresses with too many failed authentications', () => {
  test('an address with too many failed authentications gets 429 instead of 401: of 284 malformed keys 254', async () => {
    await start({ points: 30 })
    const answers: Answer[] = []
    for (let n = 0; n < 284; n += 1) answers.push(await submit(`malformed-${n}`))
    const statuses = answers.map(({ status }) => status)
    expect(statuses).toEqual([...Array<number>(30).fill(401), ...Array<number>(254).fill(429)])
    const { headers, body } = answers.at(-1) as Answer
    expect(body).toMatchObject({ success: false, code: 429, error: 'RATE_LIMITED' })
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect(headers.has('ratelimit')).toBe(false)
  })

  test('an address with too many failed authentications gets no more than its limit of 401s, concurrent ones included', async () => {
    await start()
    const keys = Array.from({ length: 40 }, () => newApiKey())
    const statuses = await Promise.all(keys.map((key) => statusOf(key)))
    expect(statuses.filter((status) => status === 401)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(35)
  })

  test.each([
    ['without a key', undefined],
    ['with a malformed key', 'gps_nonsense'],
    ['with an unknown key', newApiKey()],
  ])('a failed authentication is counted %s', async (_what, key) => {
    await start()
    for (let n = 0; n < 5; n += 1) expect(await statusOf(key)).toBe(401)
    expect(await statusOf(key)).toBe(429)
  })

  test('after too many failed authentications of an address, neither unknown keys nor valid keys new to it are looked up', async () => {
    await start()
    const { secret } = await ingest.createKey()
    await fail(5)
    expect(await statusOf(newApiKey())).toBe(429)
    expect(await statusOf(secret)).toBe(429)
    expect(lookUps).toBe(0)
  })

  test('keys from an address with too many failed authentications are not looked up in the background either', async () => {
    await start()
    const unknown = newApiKey()
    expect(await statusOf(unknown)).toBe(401)
    await fail(4)
    for (let round = 0; round < 5; round += 1) {
      ingest.clock.time += 2_500
      expect(await statusOf(unknown)).toBe(429)
    }
    expect(lookUps).toBe(1)
  })

  test('an address with too many failed authentications blocks no key that was valid in the last hour, idle or not', async () => {
    await start()
    const { secret } = await ingest.createKey()
    expect(await statusOf(secret)).toBe(200)
    await fail(5)
    expect(await statusOf('malformed')).toBe(429)
    expect(await statusOf(secret)).toBe(200)
    // Unused until its cache entry has expired.
    ingest.clock.time += 3_600_000
    expect(await statusOf(secret)).toBe(200)
    ingest.clock.time += 3_600_001
    expect(await statusOf(secret)).toBe(429)
  })

  test('an address with too many failed authentications gets 401 for a key that is no longer valid', async () => {
    await start()
    const { id, secret } = await ingest.createKey()
    const expiring = await ingest.createKey({ expiresAt: T0 + 10_000 })
    for (const key of [secret, expiring.secret]) expect(await statusOf(key)).toBe(200)
    await ingest.store.revokeKey({ accountId: 'acc-1', keyId: id, revokedAt: T0 })
    await fail(5)
    ingest.clock.time += 10_000
    for (const key of [secret, expiring.secret, secret]) expect(await statusOf(key)).toBe(401)
    ingest.clock.time += 3_600_001
    expect(await statusOf(secret)).toBe(429)
  })

  test('an address with too many failed authentications gets 429 for a key that was known here but never valid', async () => {
    await start()
    const { secret } = await ingest.createKey({ revokedAt: T0 - 1 })
    expect(await statusOf(secret)).toBe(401)
    await fail(4)
    expect(await statusOf(secret)).toBe(429)
  })

  test('an address with too many failed authentications cannot bypass the limit with the header of test reports', async () => {
    await start()
    for (const marked of ['1', 'theirs', 'ours ours', '']) await fail(1, mark(marked))
    await fail(1)
    for (const marked of ['1', 'theirs', '']) expect(await statusOf('x', mark(marked))).toBe(429)
    expect(await statusOf((await ingest.createKey()).secret, mark('1'))).toBe(429)
    expect(await statusOf((await ingest.createKey()).secret, mark('ours'))).toBe(200)
  })

  test('an ingest API without an admin API in its process ignores the header of test reports', async () => {
    await start()
    await ingest.close()
    ingest = await startIngest({ rateLimits: { auth: { points: 1, seconds: 60 } } })
    await fail(1, mark('undefined'))
    for (const marked of ['', 'undefined']) expect(await statusOf('x', mark(marked))).toBe(429)
  })

  test('a key without the scope, or a faulty report, does not count as a failed authentication of its address', async () => {
    await start()
    const reader = (await ingest.createKey({ scopes: ['positions:read'] })).secret
    const { secret } = await ingest.createKey()
    for (let n = 0; n < 8; n += 1) {
      expect(await statusOf(reader)).toBe(403)
      expect((await ingest.submit({}, { key: secret })).status).toBe(400)
    }
    expect(await statusOf('malformed')).toBe(401)
  })
})

describe('addresses', () => {
  const from = (...addresses: string[]) => ({ 'X-Forwarded-For': addresses.join(', ') })

  test('without a trusted proxy, the address is the connection’s, regardless of headers', async () => {
    await start()
    await fail(5, from('198.51.100.1'))
    expect(await statusOf('malformed', from('198.51.100.2'))).toBe(429)
  })

  test('the address is the one that trusted proxies report', async () => {
    await start({ trustProxy: 2 })
    await fail(5, from('203.0.113.9', '198.51.100.1', '192.0.2.1'))
    // The client’s own part of the header changes nothing.
    expect(await statusOf('malformed', from('spoofed', '198.51.100.1', '192.0.2.1'))).toBe(429)
    expect(await statusOf('malformed', from('203.0.113.9', '198.51.100.2', '192.0.2.1'))).toBe(401)
  })

  test('an IPv6 address is counted by its first 64 bits, and a mapped IPv4 address as IPv4', async () => {
    await start({ trustProxy: 1 })
    for (let host = 1; host <= 5; host += 1) await fail(1, from(`2001:db8:1:2::${host}`))
    expect(await statusOf('malformed', from('2001:db8:1:2:ffff::9'))).toBe(429)
    expect(await statusOf('malformed', from('2001:db8:1:3::1'))).toBe(401)
    await fail(5, from('::ffff:192.0.2.1'))
    expect(await statusOf('malformed', from('192.0.2.1'))).toBe(429)
    expect(await statusOf('malformed', from('::ffff:192.0.2.2'))).toBe(401)
  })

  test('an address is counted without the port and the brackets that some proxies write', async () => {
    await start({ trustProxy: 1 })
    for (let port = 1; port <= 5; port += 1) await fail(1, from(`203.0.113.7:471${port}`))
    expect(await statusOf('malformed', from('203.0.113.7:4716'))).toBe(429)
    expect(await statusOf('malformed', from('203.0.113.7'))).toBe(429)
    for (let port = 1; port <= 5; port += 1) await fail(1, from(`[2001:db8::1]:471${port}`))
    expect(await statusOf('malformed', from('[2001:db8::1]:4716'))).toBe(429)
    expect(await statusOf('malformed', from('[2001:db8::2]'))).toBe(429)
    expect(await statusOf('malformed', from('203.0.113.8:4711'))).toBe(401)
  })
})

test('without a limit, an unknown key always gets a 401', async () => {
  await start()
  await ingest.close()
  ingest = await startIngest()
  await fail(50)
})
