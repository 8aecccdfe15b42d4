import { expect, test } from '@jest/globals'
import { isApiKey, keyHint, newApiKey, secretHash } from '../../../schemas/access/api-key.ts'
import { adminForAllTests, bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given))

function create(body: object) {
  return harness.api('POST', '/keys', { body, headers })
}

test('creating a key shows the secret once, and stores only its hash', async () => {
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
    refusedRequests: 0,
    lastRefusedAt: null,
    previousValidUntil: null,
    deviceIds: null,
    rateLimit: null,
  })
  const read = await harness.api('GET', `/keys/${id}`, { headers })
  expect(read.body.data).toEqual({ id, ...rest })
  expect((await harness.store.findGrant(secretHash(secret)))?.key.id).toBe(id)
})

test('creating a key accepts every limit of a key', async () => {
  const wanted = {
    name: '<b>Ünïcode</b> & co',
    scopes: ['positions:read', 'devices:read'],
    deviceIds: ['truck 7', 'جرار ٥', 'boat-*'],
    rateLimit: 120,
  }
  const answer = await create({ ...wanted, expiresAt: '2026-02-01T02:00:00+02:00' })
  expect(answer.body.data).toMatchObject({ ...wanted, expiresAt: '2026-02-01T00:00:00.000Z' })
})

test('creating a key accepts null for optional fields', async () => {
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
  ['name', { name: ' x' }],
  ['name', { name: 'x\u0000' }],
  ['name', { name: newApiKey() }],
  ['deviceIds', { name: 'x', deviceIds: ['van', newApiKey()] }],
  ['expiresAt', { name: 'x', expiresAt: '2025-12-31T00:00:00Z' }],
  ['deviceIds', { name: 'x', deviceIds: ['\ud800'] }],
])('creating a key is rejected for an invalid %s: %j', async (field, body) => {
  const answer = await create(body)
  expect(answer.body).toMatchObject({ code: 400, error: 'INVALID_PARAMS' })
  expect(answer.body.details?.map((fault) => fault.field)).toEqual([field])
  expect(answer.body.message).toContain(field)
})

test('creating a key reports all faults together', async () => {
  const answer = await create({ scopes: [], rateLimit: -1, nmae: 'x' })
  expect(answer.body.details?.map(({ field }) => field).sort()).toEqual([
    'name',
    'nmae',
    'rateLimit',
    'scopes',
  ])
})

test('revoking a key twice is the same as once, and the key no longer works', async () => {
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

test('the use of a key appears in the list', async () => {
  const { id, secret } = await harness.createKey({ scopes: ['devices:read'] })
  await harness.api('GET', '/devices', { headers: bearer(secret) })
  const read = await harness.api('GET', `/keys/${id}`, { headers })
  expect(read.body.data?.['lastUsedAt']).toBe(new Date(harness.clock.now()).toISOString())
})

test('pages contain all keys, newest first, even while new ones are created', async () => {
  const other = await startAdmin()
  const session = await other.createSession()
  for (let key = 0; key < 7; key += 1) await other.createKey()
  const between = () => other.createKey()
  const seen = await other.allPages('/keys?limit=3', { headers: session, between })
  const ids = seen.map(({ id }) => id)
  expect(ids).toEqual(['key-8', 'key-7', 'key-6', 'key-5', 'key-4', 'key-3', 'key-2'])
})

test('keys can be searched by name or hint, sorted, and filtered by status', async () => {
  const other = await startAdmin()
  const session = await other.createSession()
  const make = async (name: string) => {
    other.clock.time += 1
    const made = await other.api('POST', '/keys', { headers: session, body: { name } })
    return made.body.data as { id: string; hint: string }
  }
  const [bench, ten, two] = [await make('Test bench'), await make('Van 10'), await make('Van 02')]
  await other.api('POST', `/keys/${bench.id}/revoke`, { headers: session })
  const found = async (query: string) =>
    (await other.allPages(`/keys?limit=1&${query}`, { headers: session })).map(({ id }) => id)
  expect(await found('q=bench%20test')).toEqual([bench.id])
  expect(await found('q=van2')).toEqual([two.id])
  expect(await found('q=van')).toEqual([two.id, ten.id])
  expect(await found('q=van&sort=name')).toEqual([two.id, ten.id])
  expect(await found('q=van&sort=-name')).toEqual([ten.id, two.id])
  expect(await found('q=van&sort=createdAt')).toEqual([ten.id, two.id])
  expect(await found(`q=${encodeURIComponent(two.hint.slice(-4))}`)).toContain(two.id)
  expect(await found('status=revoked')).toEqual([bench.id])
  expect(await found('status=active&q=bench')).toEqual([])
  expect(await found(`id=${ten.id}&id=${bench.id}&id=none`)).toEqual([ten.id, bench.id])
  await other.store.touchKeys(new Map([[ten.id, other.clock.time]]))
  expect((await found('q=van&sort=-lastUsedAt'))[0]).toBe(ten.id)
})

test('an invalid search for keys gets an error that lists the valid values', async () => {
  const asked = async (query: string) =>
    (await harness.api('GET', `/keys?${query}`, { headers })).body.message
  expect(await asked('sort=hint')).toBe(
    'sort must be one of name, createdAt, lastUsedAt, with a - before it to reverse the order',
  )
  expect(await asked('status=gone')).toBe('status must be active or expired or revoked or rotating')
  expect(await asked('id=a&id=a')).toBe('id must be given at most 100 times, with different ids')
})
