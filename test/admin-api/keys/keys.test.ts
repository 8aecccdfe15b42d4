import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { isApiKey, keyHint, newApiKey, secretHash } from '../../../schemas/api-key.ts'
import { T0 } from '../../samples.ts'
import { bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
})
afterAll(() => harness.close())

function create(body: object) {
  return harness.api('POST', '/keys', { body, headers })
}

describe('making a key', () => {
  test('shows the secret once, and what is kept of it is only its hash', async () => {
    const answer = await create({ name: 'gateway' })
    expect(answer.status).toBe(201)
    const { id, key: secret, ...rest } = answer.body.data as { id: string; key: string }
    expect(isApiKey(secret)).toBe(true)
    expect(rest).toEqual({
      name: 'gateway',
      hint: keyHint(secret),
      scopes: ['positions:write'],
      status: 'active',
      createdAt: new Date(harness.clock.now()).toISOString(),
      expiresAt: null,
      lastUsedAt: null,
      revokedAt: null,
      previousValidUntil: null,
      deviceIds: null,
      rateLimit: null,
    })
    const read = await harness.api('GET', `/keys/${id}`, { headers })
    expect(read.body.data).toEqual({ id, ...rest })
    expect((await harness.store.findGrant(secretHash(secret)))?.key.id).toBe(id)
  })

  test('takes all that a key can be bound by', async () => {
    const wanted = {
      name: '<b>Ünïcode</b> & co',
      scopes: ['positions:read', 'devices:read'],
      deviceIds: ['truck 7', 'جرار ٥', 'boat-*'],
      rateLimit: 120,
    }
    const answer = await create({ ...wanted, expiresAt: '2026-02-01T02:00:00+02:00' })
    expect(answer.body.data).toMatchObject({ ...wanted, expiresAt: '2026-02-01T00:00:00.000Z' })
  })

  test('takes null for what may be absent', async () => {
    const answer = await create({
      name: 'x',
      scopes: null,
      expiresAt: null,
      deviceIds: null,
      rateLimit: null,
    })
    expect(answer.status).toBe(201)
    expect(answer.body.data).toMatchObject({ scopes: ['positions:write'], expiresAt: null })
  })

  test.each([
    ['name', {}],
    ['name', { name: null }],
    ['name', { name: '' }],
    ['name', { name: ' x' }],
    ['name', { name: 'x\u0000' }],
    ['name', { name: 'x'.repeat(101) }],
    ['name', { name: { $gt: '' } }],
    ['name', { name: ['x'] }],
    ['name', { name: newApiKey() }],
    ['deviceIds', { name: 'x', deviceIds: ['van', newApiKey()] }],
    ['scopes', { name: 'x', scopes: [] }],
    ['scopes', { name: 'x', scopes: ['everything'] }],
    ['scopes', { name: 'x', scopes: 'admin' }],
    ['scopes', { name: 'x', scopes: ['admin', 'admin'] }],
    ['scopes', { name: 'x', scopes: [{ $ne: null }] }],
    ['scopes', { name: 'x', scopes: { 0: 'admin', length: 1 } }],
    ['expiresAt', { name: 'x', expiresAt: '2026-02-30T00:00:00Z' }],
    ['expiresAt', { name: 'x', expiresAt: '2025-12-31T00:00:00Z' }],
    ['expiresAt', { name: 'x', expiresAt: 1_900_000_000_000 }],
    ['expiresAt', { name: 'x', expiresAt: '' }],
    ['expires', { name: 'x', expires: '2030-01-01T00:00:00Z' }],
    ['accountId', { name: 'x', accountId: 'acc-2' }],
    ['deviceIds', { name: 'x', deviceIds: [] }],
    ['deviceIds', { name: 'x', deviceIds: [''] }],
    ['deviceIds', { name: 'x', deviceIds: [7] }],
    ['deviceIds', { name: 'x', deviceIds: ['a', 'a'] }],
    ['deviceIds', { name: 'x', deviceIds: ['\ud800'] }],
    ['deviceIds', { name: 'x', deviceIds: [null] }],
    ['rateLimit', { name: 'x', rateLimit: 0 }],
    ['rateLimit', { name: 'x', rateLimit: 1.5 }],
    ['rateLimit', { name: 'x', rateLimit: '60' }],
    ['rateLimit', { name: 'x', rateLimit: true }],
  ])('refuses a fault in %s: %j', async (field, body) => {
    const answer = await create(body)
    expect(answer.body).toMatchObject({ code: 400, error: 'INVALID_PARAMS' })
    expect(answer.body.details?.map((fault) => fault.field)).toEqual([field])
    expect(answer.body.message).toContain(field)
  })

  test('names all faults at once', async () => {
    const answer = await create({ scopes: [], rateLimit: -1, nmae: 'x' })
    expect(answer.body.details?.map(({ field }) => field).sort()).toEqual([
      'name',
      'nmae',
      'rateLimit',
      'scopes',
    ])
  })
})

test('a key is active, expired or revoked', async () => {
  const status = async (id: string) =>
    (await harness.api('GET', `/keys/${id}`, { headers })).body.data?.['status']
  const now = harness.clock.now()
  const { id: later } = await harness.createKey({ expiresAt: now + 1 })
  const { id: expired } = await harness.createKey({ expiresAt: now })
  const { id: revoked } = await harness.createKey({ expiresAt: now, revokedAt: T0 })
  expect([await status(later), await status(expired), await status(revoked)]).toEqual([
    'active',
    'expired',
    'revoked',
  ])
})

describe('changing a key', () => {
  function change(id: string, body: unknown) {
    return harness.api('PATCH', `/keys/${id}`, { body, headers })
  }

  test('sets what is named and leaves the rest', async () => {
    const { id } = await harness.createKey({ scopes: ['devices:read'], rateLimit: 7 })
    const wanted = { name: '<b>x</b>', deviceIds: ['truck 7', 'boat-*'] }
    const answer = await change(id, { ...wanted, expiresAt: '2026-02-01T02:00:00+02:00' })
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject({
      ...wanted,
      id,
      scopes: ['devices:read'],
      expiresAt: '2026-02-01T00:00:00.000Z',
      rateLimit: 7,
    })
    const read = await harness.api('GET', `/keys/${id}`, { headers })
    expect(read.body.data).toEqual(answer.body.data)
  })

  test('takes away what is null', async () => {
    const expiresAt = harness.clock.now() + 1
    const { id } = await harness.createKey({ expiresAt, deviceIds: ['a'], rateLimit: 7 })
    const answer = await change(id, { expiresAt: null, deviceIds: null, rateLimit: null })
    expect(answer.body.data).toMatchObject({ expiresAt: null, deviceIds: null, rateLimit: null })
  })

  test('lets an expired key go on, a revoked one never', async () => {
    const now = harness.clock.now()
    const expired = await harness.createKey({ expiresAt: now })
    const revoked = await harness.createKey({ expiresAt: now, revokedAt: T0 })
    const statuses = []
    for (const { id, secret } of [expired, revoked]) {
      await change(id, { expiresAt: '2026-02-01T00:00:00Z' })
      statuses.push((await harness.api('GET', '/keys', { headers: bearer(secret) })).status)
    }
    expect(statuses).toEqual([200, 401])
  })

  test.each([
    ['body', {}],
    ['body', ''],
    ['body', '[]'],
    ['name', { name: null }],
    ['name', { name: '' }],
    ['name', { name: 'x\u0000' }],
    ['name', { name: { $gt: '' } }],
    ['scopes', { scopes: ['admin'] }],
    ['accountId', { name: 'x', accountId: 'acc-2' }],
    ['expiresAt', { expiresAt: '2025-12-31T00:00:00Z' }],
    ['expiresAt', { expiresAt: new Date(T0 + 3_600_000).toISOString() }],
    ['expiresAt', { expiresAt: { $gt: '' } }],
    ['deviceIds', { deviceIds: [] }],
    ['deviceIds', { deviceIds: [{ $ne: null }] }],
    ['deviceIds', { deviceIds: ['a\u0000'] }],
    ['rateLimit', { rateLimit: 0 }],
    ['rateLimit', { rateLimit: '60' }],
  ])('is refused for a fault in %s: %j', async (field, body) => {
    const { id } = await harness.createKey()
    const before = await harness.store.findKey({ accountId: 'acc-1', keyId: id })
    const answer = await change(id, body)
    expect(answer.body).toMatchObject({ code: 400, error: 'INVALID_PARAMS' })
    expect(answer.body.details?.map((fault) => fault.field)).toEqual([field])
    expect(await harness.store.findKey({ accountId: 'acc-1', keyId: id })).toEqual(before)
  })
})

describe('rotating a key', () => {
  const DAY = 24 * 3_600_000

  function rotate(id: string, body?: unknown) {
    return harness.api('POST', `/keys/${id}/rotate`, {
      headers,
      ...(body !== undefined && { body }),
    })
  }

  async function opens(secret: string, afterMs = 0): Promise<boolean> {
    harness.clock.time += afterMs
    const Authorization = `Bearer ${secret}`
    const { status } = await harness.api('GET', '/keys', { headers: { Authorization } })
    harness.clock.time -= afterMs
    return status === 200
  }

  test('gives a new secret under the same id; the old one works for 7 days and not after', async () => {
    const { id, secret } = await harness.createKey()
    const answer = await rotate(id)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { key, ...view } = answer.body.data as { key: string }
    expect(isApiKey(key)).toBe(true)
    expect(key).not.toBe(secret)
    expect(view).toMatchObject({
      id,
      hint: keyHint(key),
      status: 'rotating',
      previousValidUntil: new Date(harness.clock.now() + 7 * DAY).toISOString(),
    })
    const read = await harness.api('GET', `/keys/${id}`, { headers })
    expect(read.text).not.toContain(key)
    expect(read.body.data).toEqual(view)
    expect([await opens(key), await opens(secret)]).toEqual([true, true])
    expect([await opens(secret, 7 * DAY - 1), await opens(secret, 7 * DAY)]).toEqual([true, false])
    expect(await opens(key, 7 * DAY)).toBe(true)
  })

  test('leaves no more than one old secret', async () => {
    const { id, secret: first } = await harness.createKey()
    const { key: second } = (await rotate(id)).body.data as { key: string }
    const { key: third } = (await rotate(id)).body.data as { key: string }
    expect([await opens(first), await opens(second), await opens(third)]).toEqual([
      false,
      true,
      true,
    ])
  })

  test.each([
    [{ graceSeconds: 0 }, 0, 'active'],
    [{ graceSeconds: 1 }, 1000, 'rotating'],
    [{ graceSeconds: 30 * 24 * 3600 }, 30 * DAY, 'rotating'],
    [{ graceSeconds: null }, 7 * DAY, 'rotating'],
    [{}, 7 * DAY, 'rotating'],
  ])('with %j lets the old one work for %i ms', async (body, graceMs, status) => {
    const { id, secret } = await harness.createKey()
    const answer = await rotate(id, body)
    expect(answer.body.data).toMatchObject({ status })
    expect(await opens(secret, graceMs)).toBe(false)
    if (graceMs > 0) expect(await opens(secret, graceMs - 1)).toBe(true)
  })

  test('is over when the grace time is', async () => {
    const { id } = await harness.createKey()
    await rotate(id, { graceSeconds: 60 })
    harness.clock.time += 60_000
    const read = await harness.api('GET', `/keys/${id}`, { headers })
    harness.clock.time -= 60_000
    expect(read.body.data).toMatchObject({ status: 'active' })
  })

  test.each([-1, 1.5, 30 * 24 * 3600 + 1, '60', true, { $gt: 0 }, [60]])(
    'is refused for a grace time of %j',
    async (graceSeconds) => {
      const { id, secret } = await harness.createKey()
      const answer = await rotate(id, { graceSeconds })
      expect(answer.body.details?.map(({ field }) => field)).toEqual(['graceSeconds'])
      expect(await opens(secret)).toBe(true)
    },
  )

  test('needs no body and no Content-Type, but what is sent has to be right', async () => {
    const { id } = await harness.createKey()
    expect((await rotate(id, '{')).status).toBe(400)
    expect((await rotate(id, { grace: 5 })).body.details?.[0]?.field).toBe('grace')
    const text = await harness.api('POST', `/keys/${id}/rotate`, {
      body: '{}',
      headers: { ...headers, 'Content-Type': 'text/plain' },
    })
    expect(text.status).toBe(415)
    expect((await rotate(id, '')).status).toBe(200)
  })

  test('of one that is revoked or expired is a 409, and that is what its status says', async () => {
    const now = harness.clock.now()
    const previousValidUntil = now + 1
    for (const over of [{ revokedAt: T0 }, { expiresAt: now }, { expiresAt: now, revokedAt: T0 }]) {
      const { id } = await harness.createKey({ ...over, previousValidUntil })
      const answer = await rotate(id)
      expect(answer.body).toMatchObject({ code: 409, error: 'CONFLICT' })
      expect(answer.text).not.toMatch(/gps_/)
      const read = await harness.api('GET', `/keys/${id}`, { headers })
      expect(read.body.data?.['status']).toBe('revokedAt' in over ? 'revoked' : 'expired')
    }
  })
})

test('keys of another account are 404 to all calls, and stay as they are', async () => {
  const { id: keyId } = await harness.createKey({ accountId: 'acc-2' })
  const before = await harness.store.findKey({ accountId: 'acc-2', keyId })
  const unknown = await harness.api('GET', '/keys/unknown', { headers })
  for (const [method, path, body] of [
    ['GET', `/keys/${keyId}`],
    ['PATCH', `/keys/${keyId}`, { name: 'mine' }],
    ['POST', `/keys/${keyId}/rotate`],
    ['POST', `/keys/${keyId}/revoke`],
  ] as const) {
    const answer = await harness.api(method, path, { headers, ...(body && { body }) })
    expect(answer.status).toBe(404)
    expect(answer.text).toBe(unknown.text)
  }
  expect(await harness.store.findKey({ accountId: 'acc-2', keyId })).toEqual(before)
})

test('revoking twice is the same as once, and the key opens nothing from then on', async () => {
  const { id, secret } = await harness.createKey()
  const list = () => harness.api('GET', '/keys', { headers: bearer(secret) })
  expect((await list()).status).toBe(200)
  const first = await harness.api('POST', `/keys/${id}/revoke`, { headers })
  expect(first.status).toBe(200)
  expect(first.body.data).toMatchObject({
    id,
    status: 'revoked',
    revokedAt: new Date(harness.clock.now()).toISOString(),
  })
  expect((await list()).status).toBe(401)
  harness.clock.time += 1000
  const second = await harness.api('POST', `/keys/${id}/revoke`, { headers })
  harness.clock.time -= 1000
  expect(second.body).toEqual(first.body)
})

test('a use is seen in the list', async () => {
  const { id, secret } = await harness.createKey({ scopes: ['devices:read'] })
  await harness.api('GET', '/devices', { headers: bearer(secret) })
  const read = await harness.api('GET', `/keys/${id}`, { headers })
  expect(read.body.data?.['lastUsedAt']).toBe(new Date(harness.clock.now()).toISOString())
})

test('pages go through all keys, newest first, while new ones are made', async () => {
  const other = await startAdmin()
  const session = await other.createSession()
  for (let key = 0; key < 7; key += 1) await other.createKey()
  const seen: unknown[] = []
  let cursor: string | null | undefined
  do {
    const query = cursor === undefined ? '' : `&cursor=${cursor}`
    const page = await other.api('GET', `/keys?limit=3${query}`, { headers: session })
    seen.push(...(page.body.data?.items ?? []).map((key) => key['id']))
    cursor = page.body.data?.nextCursor
    await other.createKey()
  } while (cursor !== null)
  await other.close()
  expect(seen).toEqual(['key-8', 'key-7', 'key-6', 'key-5', 'key-4', 'key-3', 'key-2'])
})
