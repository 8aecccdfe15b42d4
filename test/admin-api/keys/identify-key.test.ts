import { beforeAll, describe, expect, test } from '@jest/globals'
import { newApiKey } from '../../../schemas/access/api-key.ts'
import { T0 } from '../../samples.ts'
import { bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'

describe('identifying a key by its secret', () => {
  let harness: AdminHarness
  let headers: Record<string, string>
  beforeAll(async () => {
    harness = await startAdmin()
    headers = await harness.createSession()
  })

  const identify = (body: unknown) => harness.api('POST', '/keys/identify', { headers, body })

  test('identifying a key returns the key as GET /keys shows it, without the secret', async () => {
    const { id, secret } = await harness.createKey({ scopes: ['positions:write'] })
    const answer = await identify({ key: secret })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual((await harness.api('GET', `/keys/${id}`, { headers })).body)
    expect(answer.text).not.toContain(secret)
  })

  test('identifying a key also works for revoked, expired and rotated keys', async () => {
    const revoked = await harness.createKey({ revokedAt: T0 })
    const expired = await harness.createKey({ expiresAt: T0 })
    const rotated = await harness.createKey()
    await harness.api('POST', `/keys/${rotated.id}/rotate`, { headers })
    for (const [{ id, secret }, status] of [
      [revoked, 'revoked'],
      [expired, 'expired'],
      [rotated, 'rotating'],
    ] as const) {
      expect((await identify({ key: secret })).body.data).toMatchObject({ id, status })
    }
  })

  test('identifying a key answers the same 404 for another account’s key, an unknown key and any other text', async () => {
    const foreign = await harness.createKey({ accountId: 'acc-2' })
    const answers = []
    for (const key of [foreign.secret, newApiKey(), 'gps_x', ` ${newApiKey()}`, 'x'.repeat(256)]) {
      answers.push(await identify({ key }))
    }
    for (const { status, text } of answers) {
      expect(status).toBe(404)
      expect(text).toBe(answers[0]?.text)
    }
  })

  test.each([{ key: 'x'.repeat(257) }, { key: ['xx'] }])(
    'identifying a key is a 400 for %j that does not repeat it',
    async (body) => {
      const answer = await identify(body)
      expect(answer.status).toBe(400)
      expect(answer.body.details).toEqual([{ field: 'key', message: expect.any(String) }])
      expect(answer.text).not.toContain('xx')
    },
  )

  test('a key that is identified is never logged', async () => {
    const { secret } = await harness.createKey()
    await identify({ key: secret })
    await identify({ key: secret, more: 1 })
    expect(harness.logged.length).toBeGreaterThan(0)
    expect(harness.logged.join('')).not.toContain(secret)
  })
})

describe('identifying pasted keys', () => {
  let harness: AdminHarness

  test('each operator and each key may identify keys 10 times a minute, failures included', async () => {
    harness = await startAdmin({ pastedKeyLimit: 'usual' })
    const { secret } = await harness.createKey()
    const sessions = [await harness.createSession(), await harness.createSession()]
    const ask = (headers: Record<string, string>, key = newApiKey()) =>
      harness.api('POST', '/keys/identify', { headers, body: { key } })
    const statuses = []
    for (let n = 0; n < 10; n += 1) statuses.push((await ask(sessions[n % 2] ?? {})).status)
    expect(statuses).toEqual(Array(10).fill(404))
    for (const session of sessions) {
      const refused = await ask(session, secret)
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await ask(bearer(secret), secret)).status).toBe(200)
  })
})
