import { beforeEach, expect, test } from '@jest/globals'
import { hashPassword } from '../../../admin-api/sign-in/password.ts'
import { DependencyError } from '../../../runtime/errors.ts'
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

test('signing in answers who one is and sets a cookie that scripts and other sites cannot use', async () => {
  const answer = await signIn()
  expect(answer.status).toBe(200)
  expect(answer.body.data).toEqual({
    operator: {
      ...{ id: 'op-1', email: EMAIL, role: 'admin', platform: false },
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

test('signing in takes the e-mail in any case', async () => {
  expect((await signIn({ email: 'ANA@Example.ORG' })).status).toBe(200)
})

test('signing in answers the same to a wrong password, an unknown e-mail and a suspended account', async () => {
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
  // In turn, so that a machine that becomes busy slows down both.
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

test('signing in is refused with 429 after 10 failures of one address and e-mail', async () => {
  for (let turn = 0; turn < 10; turn += 1) {
    expect((await signIn({ password: `wrong ${turn}` })).status).toBe(401)
  }
  const refused = await signIn()
  expect(refused.body.error).toBe('RATE_LIMITED')
  const seconds = Number(refused.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(14 * 60)
  expect(seconds).toBeLessThanOrEqual(15 * 60)
  expect((await signIn({ email: 'ANA@example.org' })).status).toBe(429)
  expect((await signIn({ email: 'other@example.org' })).status).toBe(401)
})

test('signing in is given no more guesses by asking many times at once', async () => {
  const { email } = await realOperator()
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, turn) => signIn({ email, password: `wrong ${turn}` })),
  )
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(10)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(20)
})

test('signing in is not hindered by having signed in often', async () => {
  for (let turn = 0; turn < 12; turn += 1) expect((await signIn()).status).toBe(200)
})

test('a cookie is Secure where a proxy that is trusted says that it speaks TLS', async () => {
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

test('an address from which all e-mails are tried is stopped, and shuts its good ones not out', async () => {
  const flooded = await startAdmin()
  const realHash = await hashPassword(PASSWORD)
  const { email } = await flooded.createOperator({ passwordHash: realHash })
  const attempt = async (body: object) => (await flooded.api('POST', '/session', { body })).status
  let flooding = true
  const flood = Array.from({ length: 40 }, async (_, connection) => {
    const statuses: number[] = []
    for (let turn = 0; flooding; turn += 1) {
      const body = { email: `${connection}-${turn}@example.org`, password: 'wrong' }
      statuses.push(await attempt(body))
    }
    return statuses
  })
  await new Promise((resolve) => setTimeout(resolve, 200))
  const good: number[] = []
  while (good.length < 8) good.push(await attempt({ email, password: PASSWORD }))
  flooding = false
  const answers = (await Promise.all(flood)).flat()
  expect(good).toEqual(Array<number>(8).fill(200))
  expect(answers.filter((status) => status === 401).length).toBeLessThanOrEqual(30)
  expect(new Set(answers)).toEqual(new Set([401, 429]))
})

test('clients that ask to sign in all the time shut nobody else out', async () => {
  const behindProxy = await startAdmin({ trustProxy: 1 })
  const attempt = async (address: string, email: string, password: string) => {
    const headers = { 'X-Forwarded-For': address }
    return (await behindProxy.api('POST', '/session', { body: { email, password }, headers }))
      .status
  }
  let flooding = true
  const flood = Array.from({ length: 60 }, async (_, connection) => {
    const statuses: number[] = []
    for (let turn = 0; flooding; turn += 1) {
      const host = (connection * 1000 + turn).toString(16)
      const address = `2001:db8:0:${connection % 3}::${host}`
      statuses.push(await attempt(address, `${connection}-${turn}@example.org`, 'wrong'))
    }
    return statuses
  })
  const good: number[] = []
  while (good.length < 4) good.push(await attempt(`198.51.100.${good.length}`, EMAIL, PASSWORD))
  flooding = false
  const refused = (await Promise.all(flood)).flat().filter((status) => status === 503)
  expect(good).toEqual([200, 200, 200, 200])
  expect(refused.length).toBeGreaterThan(0)
  const told = behindProxy.logged.filter((line) => line.includes('too many are signing in'))
  expect(told.length).toBeLessThan(refused.length / 2)
  expect(Math.max(...told.map((line) => line.length))).toBeLessThan(400)
})

test('failures are counted per client, as the trusted proxy names it', async () => {
  const behindProxy = await startAdmin({ trustProxy: 1 })
  const attempt = async (forwarded: string) => {
    const body = { email: EMAIL, password: 'wrong' }
    const headers = { 'X-Forwarded-For': forwarded }
    return (await behindProxy.api('POST', '/session', { body, headers })).status
  }
  for (let turn = 0; turn < 10; turn += 1) await attempt(`203.0.113.${turn}, 198.51.100.1`)
  const statuses = [await attempt('198.51.100.1'), await attempt('198.51.100.2')]
  expect(statuses).toEqual([429, 401])
})

test('a session ends when one signs out, and the cookie goes', async () => {
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

test('a session says when it ends, and is moved on by asking, though not within a minute', async () => {
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

test('no session begins with a password that was changed while it was checked', async () => {
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

test('a use of a session or a key is written down at most once a minute', async () => {
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

test('a store that is away is a 503, never a 401, and costs no sign-in', async () => {
  let away = true
  const without = await startAdmin({
    wrapStore: (store) => ({
      ...store,
      findOperatorByEmail: async (email) => {
        if (away) throw new DependencyError('the store is away', { retriable: true })
        return store.findOperatorByEmail(email)
      },
    }),
  })
  const body = { email: EMAIL, password: PASSWORD }
  for (let turn = 0; turn < 12; turn += 1) {
    expect((await without.api('POST', '/session', { body })).status).toBe(503)
  }
  away = false
  expect((await without.api('POST', '/session', { body })).status).toBe(200)
})
