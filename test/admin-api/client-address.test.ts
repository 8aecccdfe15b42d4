import { expect, test } from '@jest/globals'
import { newApiKey } from '../../schemas/access/api-key.ts'
import { newShareToken } from '../../schemas/access/random-secrets.ts'
import { bearer, PASSWORD, startAdmin } from './admin-harness.ts'

/** Behind a proxy that writes the port, a new one for each connection. */
const behindProxy = (options: Parameters<typeof startAdmin>[0] = {}) =>
  startAdmin({ trustProxy: 1, ...options })

const fromPort = (port: number) => ({ 'X-Forwarded-For': `203.0.113.7:${port}` })
const fromElsewhere = { 'X-Forwarded-For': '[2001:db8::1]:4711' }

test.each([
  ['API keys', newApiKey, '/system', 401],
  ['links', newShareToken, '/shared', 404],
])(
  'unknown %s are limited per address, whatever its port',
  async (_what, secret, path, refused) => {
    const harness = await behindProxy({ authLimit: { points: 3, seconds: 60 } })
    const statusOf = async (from: Record<string, string>) =>
      (await harness.api('GET', path, { headers: { ...bearer(secret()), ...from } })).status
    const statuses = []
    for (let port = 1; port <= 4; port += 1) statuses.push(await statusOf(fromPort(port)))
    expect(statuses).toEqual([refused, refused, refused, 429])
    expect(await statusOf(fromElsewhere)).toBe(refused)
  },
)

test('failed sign-ins are limited per address, regardless of its port', async () => {
  const harness = await behindProxy()
  const signIn = async (password: string, headers: Record<string, string>) => {
    const body = { email: 'ana@example.org', password }
    return (await harness.api('POST', '/session', { body, headers })).status
  }
  for (let port = 1; port <= 10; port += 1) expect(await signIn('wrong', fromPort(port))).toBe(401)
  expect(await signIn(PASSWORD, fromPort(11))).toBe(429)
  expect(await signIn(PASSWORD, fromElsewhere)).toBe(200)
})

test.each([
  ['203.0.113.7:4711', '203.0.113.7'],
  ['[2001:DB8::1]:4711', '2001:db8::1'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
])('the audit shows the client %s as %s', async (written, address) => {
  const harness = await behindProxy()
  const headers = { ...(await harness.createSession()), 'X-Forwarded-For': written }
  await harness.api('POST', '/keys', { headers, body: { name: 'gateway' } })
  const { body } = await harness.api('GET', '/audit', { headers })
  expect(body.data?.items).toMatchObject([{ action: 'key.created', address }])
})
