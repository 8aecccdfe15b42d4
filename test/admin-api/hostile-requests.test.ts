import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { adminForAllTests, PASSWORD, type AdminHarness } from './admin-harness.ts'
import { anyText } from '../any-text.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given), { operator: { platform: true } })

function post(body: unknown) {
  return harness.api('POST', '/keys', { body, headers })
}

test('any text anywhere in a path, query or body gets 2xx or 4xx', async () => {
  const text = fc.oneof(anyText(), fc.constantFrom('%', "'--", '\0', '.', '..'))
  await fc.assert(
    fc.asyncProperty(text, fc.json(), async (odd, json) => {
      const encoded = encodeURIComponent(odd.toWellFormed())
      const answers = [
        await harness.api('GET', `/devices/${encoded}/positions?limit=${encoded}`, { headers }),
        await harness.api('GET', `/devices?cursor=${encoded}`, { headers }),
        await harness.api('GET', `/keys?${encoded}=${encoded}`, { headers }),
        await harness.api('GET', `/keys/${encoded}`, { headers }),
        await harness.api('GET', `/positions/${encoded}`, { headers }),
        await harness.api('PATCH', `/devices/${encoded}`, { headers, body: json }),
        await harness.api('PATCH', `/keys/${encoded}`, { headers, body: json }),
        await harness.api('POST', `/keys/${encoded}/rotate`, { headers, body: json }),
        await harness.api('GET', `/operators?cursor=${encoded}`, { headers }),
        await harness.api('POST', '/operators', { headers, body: json }),
        await harness.api('PATCH', `/operators/${encoded}`, { headers, body: json }),
        await harness.api('PATCH', `/operators/${encoded}`, { headers, body: { role: 'admin' } }),
        await harness.api('DELETE', `/operators/${encoded}`, { headers }),
        await harness.api('GET', `/accounts?cursor=${encoded}&limit=${encoded}`, { headers }),
        await harness.api('POST', '/accounts', { headers, body: json }),
        await harness.api('POST', '/accounts', {
          headers,
          body: { name: odd, admin: { email: odd, password: odd } },
        }),
        await harness.api('PATCH', `/accounts/${encoded}`, { headers, body: { suspended: true } }),
        await harness.api('GET', `/audit?cursor=${encoded}`, { headers }),
        await harness.api('POST', '/session/password', { headers, body: json }),
        await post(json),
        await post({ name: odd, deviceIds: [odd], expiresAt: odd }),
      ]
      for (const { status } of answers) {
        expect(status).toBeGreaterThanOrEqual(200)
        expect(status).toBeLessThan(500)
      }
    }),
    { numRuns: 50 },
  )
})

test('no response and no log line ever contains a secret', async () => {
  const made = await post({ name: 'secret' })
  const { id, key } = made.body.data as { id: string; key: string }
  const signedIn = await harness.api('POST', '/session', {
    body: { email: 'ana@example.org', password: PASSWORD },
  })
  const token = /gps_session=([\w-]{22})/.exec(signedIn.headers.getSetCookie()[0] ?? '')?.[1] ?? ''
  const cookie = { Cookie: `gps_session=${token}`, 'X-Requested-With': 'console' }
  const bearer = { Authorization: `Bearer ${key}` }
  const answers = [signedIn]
  for (const [method, path] of [
    ['GET', '/session'],
    ['GET', '/keys'],
    ['GET', `/keys/${id}`],
    ['GET', '/devices?unknown=1'],
    ['GET', '/operators'],
    ['POST', '/operators'],
    ['PATCH', '/operators/op-1'],
    ['DELETE', '/operators/op-1'],
    ['GET', '/accounts'],
    ['GET', '/audit'],
    ['POST', `/keys/${id}/revoke`],
    ['POST', '/keys'],
    ['DELETE', '/session'],
  ] as const) {
    for (const caller of [cookie, bearer, { ...bearer, ...cookie }]) {
      answers.push(await harness.api(method, path, { headers: caller }))
    }
  }
  const weak = { current: PASSWORD, next: 'too short' }
  answers.push(
    await harness.api('POST', '/session/password', { body: weak, headers }),
    await harness.api('POST', '/operators', { body: { email: 'a', password: PASSWORD }, headers }),
    await harness.api('PATCH', '/operators/op-1', { body: { password: 'too short' }, headers }),
    await harness.api('POST', '/session', { body: { email: 'a', password: `${PASSWORD}x` } }),
  )
  const said = answers.map(({ text }) => text).join('\n') + harness.logged.join('\n')
  expect(harness.logged.length).toBeGreaterThan(answers.length)
  expect(token).toHaveLength(22)
  for (const secret of [
    key,
    PASSWORD,
    token,
    harness.operator.passwordHash,
    'scrypt',
    'too short',
  ]) {
    expect(said).not.toContain(secret)
  }
})

test('the routes of every service need no key and reveal no data', async () => {
  expect((await harness.request('GET', '/')).body.data).toMatchObject({ service: 'gps-admin-api' })
  expect((await harness.request('GET', '/healthz')).status).toBe(200)
  expect((await harness.request('GET', '/readyz')).status).toBe(200)
  expect((await harness.request('GET', '/metrics')).text).toContain(
    'service="admin-api",method="POST",route="/api/v1/keys",code="201"',
  )
  harness.stopping.abort()
  expect((await harness.request('GET', '/readyz')).status).toBe(503)
})
