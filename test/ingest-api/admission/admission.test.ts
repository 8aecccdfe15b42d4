import { describe, expect, test } from '@jest/globals'
import { keyHint, newApiKey, secretHash } from '../../../schemas/access/api-key.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { T0 } from '../../samples.ts'
import { ingestForAllTests, startIngest, type IngestHarness } from '../ingest-harness.ts'

const minimal = { deviceId: 'tracker-1', latitude: 46.05, longitude: 14.5 }

let ingest: IngestHarness
ingestForAllTests((given) => ({ ingest } = given))

/** An ingest API whose store is unavailable while the connection is cut. */
function startBehind(line: { readonly isCut: boolean }): Promise<IngestHarness> {
  return startIngest({
    wrapKeys: (store) => ({
      findGrant: async (hash) => {
        if (line.isCut) throw new DependencyError('the store is away', { retriable: true })
        return store.findGrant(hash)
      },
    }),
  })
}

async function refusal(authorization: string | undefined, body: unknown = minimal) {
  const {
    status,
    headers,
    body: answer,
  } = await ingest.submit(body, {
    headers: authorization === undefined ? {} : { Authorization: authorization },
  })
  return { status, challenge: headers.get('www-authenticate'), body: answer }
}

describe('keys without permission to report', () => {
  test('an invalid key gets the same 401 for any fault and any body', async () => {
    const expired = await ingest.createKey({ expiresAt: T0 })
    const revoked = await ingest.createKey({ revokedAt: T0 - 1 })
    const good = await ingest.createKey()
    const unknown = newApiKey()
    const typo = good.secret.slice(0, -1) + (good.secret.endsWith('a') ? 'b' : 'a')
    const none = await refusal(undefined)
    expect(none.status).toBe(401)
    expect(none.challenge).toBe('Bearer realm="gps"')
    expect(none.body).toMatchObject({ success: false, code: 401, error: 'UNAUTHORIZED' })
    for (const authorization of [
      `Bearer ${unknown}`,
      `Bearer ${typo}`,
      `Bearer ${expired.secret}`,
      `Bearer ${revoked.secret}`,
      'Bearer',
      'Bearer nonsense',
      `Basic ${Buffer.from(`user:${good.secret}`).toString('base64')}`,
      good.secret,
    ]) {
      for (const body of [minimal, {}, 'not json']) {
        const answer = await refusal(authorization, body)
        expect(answer).toEqual({
          status: 401,
          challenge: 'Bearer realm="gps", error="invalid_token"',
          body: none.body,
        })
      }
    }
    expect(await ingest.logged()).toEqual([])
  })

  test('a valid key without the scope gets a 403 that names the scope', async () => {
    const reader = await ingest.createKey({ scopes: ['positions:read', 'devices:read'] })
    const answer = await refusal(`Bearer ${reader.secret}`, {})
    expect(answer.status).toBe(403)
    expect(answer.challenge).toContain('error="insufficient_scope"')
    expect(answer.body).toMatchObject({ error: 'FORBIDDEN' })
  })

  test('a key of a suspended account gets 403 before its body is read', async () => {
    await ingest.store.createAccount({ id: 'acc-2', name: 'B', suspended: true, createdAt: T0 })
    const suspended = await ingest.createKey({ accountId: 'acc-2' })
    const answer = await refusal(`Bearer ${suspended.secret}`, 'not json')
    expect(answer).toMatchObject({ status: 403, challenge: null, body: { error: 'FORBIDDEN' } })
  })
})

describe('devices of keys', () => {
  test('the devices of a key are exact ids or prefixes, and a report for another device is 403', async () => {
    const listed = await ingest.createKey({ deviceIds: ['van-7', 'truck-*'] })
    const send = async (deviceId: string) =>
      (await ingest.submit({ ...minimal, deviceId }, { key: listed.secret })).status
    expect(await send('van-7')).toBe(200)
    expect(await send('truck-')).toBe(200)
    expect(await send('truck-12')).toBe(200)
    expect(await send('van-70')).toBe(403)
    expect(await send('Van-7')).toBe(403)
    expect(await send('my-truck-1')).toBe(403)
  })

  test('the devices of a key are checked after the body: a faulty body is 400 first', async () => {
    const listed = await ingest.createKey({ deviceIds: ['van-7'] })
    const answer = await ingest.submit({ deviceId: 'van-8' }, { key: listed.secret })
    expect(answer.status).toBe(400)
  })

  test('a report for a disabled device is 403', async () => {
    await ingest.store.changeDeviceSettings({
      accountId: 'acc-1',
      deviceId: 'stolen',
      changedAt: T0,
      disabled: true,
    })
    const { secret } = await ingest.createKey()
    const answer = await ingest.submit({ ...minimal, deviceId: 'stolen' }, { key: secret })
    expect(answer).toMatchObject({ status: 403, body: { error: 'FORBIDDEN' } })
  })
})

describe('rotated secrets', () => {
  async function rotated(previousValidUntil: number) {
    const { id, secret } = await ingest.createKey()
    const next = newApiKey()
    const [hash, hint] = [secretHash(next), keyHint(next)]
    const rotation = { accountId: 'acc-1', keyId: id, secretHash: hash, hint, previousValidUntil }
    expect(await ingest.store.rotateKey(rotation)).toMatchObject({ id })
    return { id, secret, next }
  }

  test('the previous secret works until its grace time ends, to the millisecond; the new one continues to work', async () => {
    const { id, secret, next } = await rotated(T0 + 1_000)
    const submit = (key: string) => ingest.submit(minimal, { key })
    ingest.clock.time = T0 + 999
    expect((await submit(secret)).status).toBe(200)
    expect((await ingest.logged()).at(-1)).toMatchObject({ keyId: id })
    // The store's answer is remembered, and not requested again.
    ingest.clock.time = T0 + 1_000
    const late = await submit(secret)
    expect(late.status).toBe(401)
    expect(late.body).toEqual((await refusal(undefined)).body)
    expect((await submit(next)).status).toBe(200)
    ingest.clock.time = T0
  })

  test('without a grace time the previous secret is rejected immediately', async () => {
    const { secret, next } = await rotated(T0)
    expect((await refusal(`Bearer ${secret}`)).status).toBe(401)
    expect((await ingest.submit(minimal, { key: next })).status).toBe(200)
  })

  test('a secret from before a rotation expires on time while the store is unavailable', async () => {
    const line = { isCut: false }
    const cut = await startBehind(line)
    const { id, secret } = await cut.createKey()
    const next = newApiKey()
    await cut.store.rotateKey({
      accountId: 'acc-1',
      keyId: id,
      secretHash: secretHash(next),
      hint: keyHint(next),
      previousValidUntil: T0 + 600_000,
    })
    expect((await cut.submit(minimal, { key: secret })).status).toBe(200)
    line.isCut = true
    cut.clock.time = T0 + 599_999
    expect((await cut.submit(minimal, { key: secret })).status).toBe(200)
    cut.clock.time = T0 + 600_000
    expect((await cut.submit(minimal, { key: secret })).status).toBe(401)
    await cut.close()
  })
})

test('a revoked key is rejected within 5 s, even if the machine’s clock is set back', async () => {
  const own = await startIngest()
  const { id, secret } = await own.createKey()
  expect((await own.submit(minimal, { key: secret })).status).toBe(200)
  await own.store.revokeKey({ accountId: 'acc-1', keyId: id, revokedAt: T0 })
  own.clock.step = -3_600_000
  own.clock.time += 5_000
  expect((await own.submit(minimal, { key: secret })).status).toBe(401)
  await own.close()
})

test('a key’s last use is written to the store from time to time', async () => {
  const { id, secret } = await ingest.createKey()
  await ingest.submit(minimal, { key: secret })
  expect(await ingest.store.findKey({ accountId: 'acc-1', keyId: id })).not.toHaveProperty(
    'lastUsedAt',
  )
  await ingest.usage.flush()
  expect(await ingest.store.findKey({ accountId: 'acc-1', keyId: id })).toMatchObject({
    lastUsedAt: T0,
  })
})

test('requests with a revoked, expired or replaced key are counted for its operators', async () => {
  const revoked = await ingest.createKey({ revokedAt: T0 - 1 })
  const expired = await ingest.createKey({ expiresAt: T0 - 1 })
  const good = await ingest.createKey()
  for (const { secret } of [revoked, revoked, expired, good]) {
    await ingest.submit(minimal, { key: secret })
  }
  await ingest.usage.flush()
  await ingest.submit(minimal, { key: revoked.secret })
  await ingest.usage.flush()
  const counts = [revoked, expired, good].map(async ({ id }) => {
    const key = await ingest.store.findKey({ accountId: 'acc-1', keyId: id })
    return [key?.refusedRequests, key?.lastRefusedAt]
  })
  expect(await Promise.all(counts)).toEqual([
    [3, ingest.clock.now()],
    [1, ingest.clock.now()],
    [undefined, undefined],
  ])
})

describe('an unavailable store', () => {
  test('while the store is unavailable, a known key works for an hour, an unknown one gets 503 and never 401', async () => {
    const line = { isCut: false }
    const cut = await startBehind(line)
    const known = (await cut.createKey()).secret
    const other = (await cut.createKey()).secret
    expect((await cut.submit(minimal, { key: known })).status).toBe(200)
    line.isCut = true
    cut.clock.time = T0 + 3_600_000
    expect((await cut.submit(minimal, { key: known })).status).toBe(200)
    const answer = await cut.submit(minimal, { key: other })
    expect(answer).toMatchObject({ status: 503, body: { error: 'SERVICE_UNAVAILABLE' } })
    expect(answer.headers.get('retry-after')).toMatch(/^[123]$/)
    cut.clock.time = T0 + 3_600_001
    expect((await cut.submit(minimal, { key: known })).status).toBe(503)
    line.isCut = false
    expect((await cut.submit(minimal, { key: known })).status).toBe(200)
    await cut.close()
  })
})
