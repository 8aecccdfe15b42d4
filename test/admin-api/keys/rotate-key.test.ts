import { expect, test } from '@jest/globals'
import { isApiKey, keyHint } from '../../../schemas/access/api-key.ts'
import { T0 } from '../../samples.ts'
import { adminForAllTests, type AdminHarness } from '../admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given))

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

test('rotating a key gives it a new secret under the same id; the old one works for 7 days and no longer', async () => {
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

test.each([
  [{ graceSeconds: 0 }, 0, 'active'],
  [{ graceSeconds: 1 }, 1000, 'rotating'],
  [{ graceSeconds: 30 * 24 * 3600 }, 30 * DAY, 'rotating'],
  [{ graceSeconds: null }, 7 * DAY, 'rotating'],
  [{}, 7 * DAY, 'rotating'],
])('rotating a key with %j lets the old one work for %i ms', async (body, graceMs, status) => {
  const { id, secret } = await harness.createKey()
  const answer = await rotate(id, body)
  expect(answer.body.data).toMatchObject({ status })
  expect(await opens(secret, graceMs)).toBe(false)
  if (graceMs > 0) expect(await opens(secret, graceMs - 1)).toBe(true)
})

test('rotating a key needs no body and no Content-Type, but rejects a malformed body', async () => {
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

test('rotating a key is a 409 for a revoked or expired key, whose status says so', async () => {
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
