import { expect, test } from '@jest/globals'
import { T0 } from '../../samples.ts'
import { adminForAllTests, bearer, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given))

function change(id: string, body: unknown) {
  return harness.api('PATCH', `/keys/${id}`, { body, headers })
}

test('changing a key sets the given fields and leaves the others', async () => {
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

test('changing a key removes the values given as null', async () => {
  const expiresAt = harness.clock.now() + 1
  const { id } = await harness.createKey({ expiresAt, deviceIds: ['a'], rateLimit: 7 })
  const answer = await change(id, { expiresAt: null, deviceIds: null, rateLimit: null })
  expect(answer.body.data).toMatchObject({ expiresAt: null, deviceIds: null, rateLimit: null })
})

test('changing a key lets an expired key work again, but never a revoked one', async () => {
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
  ['scopes', { scopes: ['admin'] }],
  ['expiresAt', { expiresAt: '2025-12-31T00:00:00Z' }],
  ['expiresAt', { expiresAt: new Date(T0 + 3_600_000).toISOString() }],
  ['deviceIds', { deviceIds: ['a\u0000'] }],
])('changing a key is rejected for an invalid %s: %j', async (field, body) => {
  const { id } = await harness.createKey()
  const before = await harness.store.findKey({ accountId: 'acc-1', keyId: id })
  const answer = await change(id, body)
  expect(answer.body).toMatchObject({ code: 400, error: 'INVALID_PARAMS' })
  expect(answer.body.details?.map((fault) => fault.field)).toEqual([field])
  expect(await harness.store.findKey({ accountId: 'acc-1', keyId: id })).toEqual(before)
})
