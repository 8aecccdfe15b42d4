import { beforeEach, expect, test } from '@jest/globals'
import { hashPassword } from '../../../admin-api/sign-in/password.ts'
import { startAdmin, PASSWORD, type AdminHarness } from '../admin-harness.ts'

const MINUTE = 60_000
const EMAIL = 'ana@example.org'

let harness: AdminHarness
beforeEach(async () => {
  harness = await startAdmin()
})

function signIn(body: object = {}, headers: Record<string, string> = {}) {
  return harness.api('POST', '/session', {
    body: { email: EMAIL, password: PASSWORD, ...body },
    headers,
  })
}

function iso(time: number): string {
  return new Date(time).toISOString()
}

/** An operator whose password takes as long to check as those of real operators. */
async function realOperator(): Promise<{ email: string }> {
  return harness.createOperator({ passwordHash: await hashPassword(PASSWORD) })
}

function cookieOf({ headers }: { headers: Headers }): string {
  const [cookie = ''] = headers.getSetCookie()
  return cookie.split(';')[0] ?? ''
}

test('signing in returns the operator and sets a cookie that scripts and other sites cannot use', async () => {
  const answer = await signIn()
  expect(answer.status).toBe(200)
  expect(answer.body.data).toEqual({
    operator: {
      id: 'op-1',
      email: EMAIL,
      role: 'admin',
      platform: false,
      mustChangePassword: false,
    },
    account: { id: 'acc-1', name: 'Account acc-1' },
    idleEndsAt: iso(harness.clock.now() + 30 * MINUTE),
    endsAt: iso(harness.clock.now() + 12 * 60 * MINUTE),
  })
  const cookies = answer.headers.getSetCookie()
  expect(cookies).toHaveLength(1)
  expect(cookies[0]).toMatch(/^gps_session=[\w-]{22}; path=\/; samesite=strict; httponly$/i)
  const me = await harness.api('GET', '/session', { headers: { Cookie: cookieOf(answer) } })
  expect(me.body.data).toEqual(answer.body.data)
})

test('signing in accepts the e-mail in any case', async () => {
  expect((await signIn({ email: 'ANA@Example.ORG' })).status).toBe(200)
})

test('signing in gives the same response to a wrong password, an unknown e-mail and a suspended account', async () => {
  const wrong = await signIn({ password: 'wrong' })
  const unknown = await signIn({ email: 'nobody@example.org' })
  await harness.store.suspendAccount({ accountId: 'acc-1', suspended: true })
  const suspended = await signIn()
  for (const answer of [wrong, unknown, suspended]) {
    expect(answer.status).toBe(401)
    expect(answer.text).toBe(wrong.text)
    expect(answer.headers.getSetCookie()).toEqual([])
  }
})

test('signing in takes as long for an unknown e-mail as for a wrong password', async () => {
  const took = async (email: string) => {
    const start = performance.now()
    await signIn({ email, password: 'wrong' })
    return performance.now() - start
  }
  const { email } = await realOperator()
  let [known, unknown] = [Infinity, Infinity]
  // Alternating, so that a machine that becomes busy slows both down.
  for (let turn = 0; turn < 5; turn += 1) {
    known = Math.min(known, await took(email))
    unknown = Math.min(unknown, await took('nobody@example.org'))
  }
  expect(unknown).toBeGreaterThan(known / 3)
  expect(known).toBeGreaterThan(unknown / 3)
})

test('signing in gives a new secret each time and ends the session it replaces', async () => {
  const first = cookieOf(await signIn())
  const second = cookieOf(await signIn({}, { Cookie: first }))
  expect(second).not.toBe(first)
  expect((await harness.api('GET', '/session', { headers: { Cookie: first } })).status).toBe(401)
  expect((await harness.api('GET', '/session', { headers: { Cookie: second } })).status).toBe(200)
})

test('a cookie is Secure where a trusted proxy reports TLS', async () => {
  const https = { 'X-Forwarded-Proto': 'https' }
  expect((await signIn({}, https)).headers.getSetCookie()[0]).not.toMatch(/secure/i)
  const behindProxy = await startAdmin({ trustProxy: 1 })
  const body = { email: EMAIL, password: PASSWORD }
  const answer = await behindProxy.api('POST', '/session', { body, headers: https })
  expect(answer.headers.getSetCookie()[0]).toMatch(/; secure/i)
})

test.each([
  [1, 'https, http', false],
  [1, 'http, https', true],
  [2, 'http, https, http', true],
  [2, 'https, http, http', false],
  [2, 'https', true],
])('behind %d proxies X-Forwarded-Proto counts from the right: %s', async (n, given, isSecure) => {
  const behindProxies = await startAdmin({ trustProxy: n })
  const body = { email: EMAIL, password: PASSWORD }
  const headers = { 'X-Forwarded-Proto': given }
  const answer = await behindProxies.api('POST', '/session', { body, headers })
  expect(answer.status).toBe(200)
  expect(/; secure/i.test(answer.headers.getSetCookie()[0] ?? '')).toBe(isSecure)
})

test('a cookie is Secure where CONSOLE_PUBLIC_URL is https, regardless of a proxy’s headers', async () => {
  const body = { email: EMAIL, password: PASSWORD }
  for (const [consolePublicUrl, isSecure] of [
    ['https://fleet.example.org/gps', true],
    ['http://fleet.example.org/gps', false],
  ] as const) {
    for (const trustProxy of [0, 1]) {
      const { api } = await startAdmin({ consolePublicUrl, trustProxy })
      const begun = await api('POST', '/session', { body })
      const headers = { Cookie: cookieOf(begun), 'X-Requested-With': 'console' }
      const ended = await api('DELETE', '/session', { headers })
      for (const answer of [begun, ended]) {
        expect(answer.status).toBe(200)
        const [cookie = ''] = answer.headers.getSetCookie()
        expect(cookie).toContain('path=/gps/;')
        expect(/; secure/i.test(cookie)).toBe(isSecure)
      }
    }
  }
})

test('signing out ends the session and removes the cookie', async () => {
  const headers = await harness.createSession()
  const answer = await harness.api('DELETE', '/session', { headers })
  expect(answer.status).toBe(200)
  expect(answer.headers.getSetCookie()[0]).toMatch(/^gps_session=; .*expires=Thu, 01 Jan 1970/i)
  expect((await harness.api('GET', '/session', { headers })).status).toBe(401)
})

test('a session ends after 30 minutes without a request', async () => {
  const headers = await harness.createSession()
  for (let turn = 0; turn < 3; turn += 1) {
    harness.clock.time += 29 * MINUTE
    expect((await harness.api('GET', '/session', { headers })).status).toBe(200)
  }
  harness.clock.time += 30 * MINUTE
  expect((await harness.api('GET', '/session', { headers })).status).toBe(401)
})

test('a session says when it ends, and each request after a minute extends it', async () => {
  const headers = await harness.createSession()
  const begun = harness.clock.now()
  const ends = async (afterMs: number) => {
    harness.clock.time = begun + afterMs
    const { data } = (await harness.api('GET', '/session', { headers })).body
    const times = [data?.['idleEndsAt'], data?.['endsAt']].map((time) => Date.parse(time as string))
    return times.map((time) => (time - begun) / MINUTE)
  }
  expect(await ends(59_999)).toEqual([30, 12 * 60])
  expect(await ends(MINUTE)).toEqual([31, 12 * 60])
  for (let minutes = 20; minutes < 11.5 * 60; minutes += 20) await ends(minutes * MINUTE)
  expect(await ends(11.4 * 60 * MINUTE)).toEqual([11.9 * 60, 12 * 60])
  expect(await ends(11.6 * 60 * MINUTE)).toEqual([12 * 60, 12 * 60])
})

test('a session ends after 12 hours even when it is used all the time', async () => {
  const headers = await harness.createSession()
  for (let minutes = 20; minutes < 12 * 60; minutes += 20) {
    harness.clock.time += 20 * MINUTE
    expect((await harness.api('GET', '/session', { headers })).status).toBe(200)
  }
  harness.clock.time += 20 * MINUTE
  expect((await harness.api('GET', '/session', { headers })).status).toBe(401)
})

test('no session starts with a password that was changed while it was checked', async () => {
  const overtaken = await startAdmin({
    wrapStore: (store) => ({
      ...store,
      async createSession(session) {
        const operator = { accountId: 'acc-1', operatorId: 'op-1' }
        await store.changeOperator({ ...operator, passwordHash: 'another' })
        await store.endSessions(operator)
        await store.createSession(session)
      },
    }),
  })
  const body = { email: EMAIL, password: PASSWORD }
  const answer = await overtaken.api('POST', '/session', { body })
  expect(answer.status).toBe(401)
  expect(answer.headers.getSetCookie()).toEqual([])
})

test('the use of a session or a key is stored at most once a minute', async () => {
  const written: string[] = []
  const counting = await startAdmin({
    wrapStore: (store) => ({
      ...store,
      touchSession: async (query) => {
        written.push('session')
        await store.touchSession(query)
      },
      touchKeys: async (usedAt) => {
        written.push(...usedAt.keys())
        await store.touchKeys(usedAt)
      },
    }),
  })
  const session = await counting.createSession()
  const { id, secret } = await counting.createKey()
  const ask = async () => {
    await counting.api('GET', '/keys', { headers: session })
    await counting.api('GET', '/keys', { headers: { Authorization: `Bearer ${secret}` } })
  }
  await ask()
  await ask()
  expect(written).toEqual([id])
  counting.clock.time += MINUTE
  await ask()
  await ask()
  expect(written).toEqual([id, 'session', id])
})
