import { beforeAll, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { adminRoutes } from '../../admin-api/app.ts'
import { newApiKey, secretHash } from '../../schemas/access/api-key.ts'
import { newShareToken } from '../../schemas/access/random-secrets.ts'
import { SCOPES } from '../../store/keys.ts'
import { T0 } from '../samples.ts'
import { EXPECTED, newEmail } from './access-table.ts'
import { bearer, NO_FACTS, startAdmin, type AdminHarness } from './admin-harness.ts'

// Every call × every kind of caller.

const platforms = { harness: {} as AdminHarness }
const admins = { harness: {} as AdminHarness }
const dispatchers = { harness: {} as AdminHarness }
const viewers = { harness: {} as AdminHarness }
const strangers = { harness: {} as AdminHarness }

/** The stores hold the same data; they differ in who may sign in. */
beforeAll(async () => {
  platforms.harness = await startAdmin({ operator: { platform: true } })
  admins.harness = await startAdmin()
  dispatchers.harness = await startAdmin({ operator: { role: 'dispatcher' } })
  viewers.harness = await startAdmin({ operator: { role: 'viewer' } })
  strangers.harness = await startAdmin({ operator: { accountId: 'acc-2' } })
  for (const { harness } of [platforms, admins, dispatchers, viewers, strangers]) {
    await harness.createKey({ id: 'key-of-acc-1' })
    await harness.createKey({ id: 'rotated-of-acc-1' })
    await harness.project({ deviceId: 'device-of-acc-1', recordId: '01KDVN9C00ACCESS0000000001' })
  }
})

test('the table in this test lists exactly the existing routes', () => {
  const { store, eventLog, clock, metrics, stopping } = admins.harness
  const logger = pino({ level: 'silent' })
  const routes = adminRoutes({
    store,
    eventLog,
    factLog: NO_FACTS,
    clock,
    logger,
    metrics,
    mode: 'embedded',
    ingest: { forSenders: () => undefined },
    maps: [],
    consolePublicUrl: undefined,
    stopping: stopping.signal,
  })
  const stated = Object.entries(EXPECTED).map(([call, { needs, scope }]) => ({
    call,
    needs,
    scope,
  }))
  const found = routes.map((route) => ({
    call: `${route.method} ${route.path}`,
    needs: route.needs,
    scope: 'scope' in route ? route.scope : undefined,
  }))
  expect(byCall(found)).toEqual(byCall(stated))
})

function byCall<Row extends { call: string }>(rows: readonly Row[]): Row[] {
  return [...rows].sort((a, b) => (a.call < b.call ? -1 : 1))
}

const withoutShares = Object.entries(EXPECTED).filter(([, { needs }]) => needs !== 'share')
const ofShares = Object.entries(EXPECTED).filter(([, { needs }]) => needs === 'share')

test.each(ofShares)('%s accepts share tokens only', async (call) => {
  const { harness } = admins
  const path = call.split(' ')[1] ?? ''
  const token = newShareToken()
  const share = {
    id: `${path} of-acc-1`,
    accountId: 'acc-1',
    name: 'of-acc-1',
    trailMinutes: 0,
    devices: [{ deviceId: 'device-of-acc-1', ref: 'ref' }],
    createdAt: T0,
    expiresAt: harness.clock.now() + 1,
  }
  await harness.store.createShare(share, secretHash(token))
  expect((await harness.api('GET', path, { headers: bearer(token) })).status).toBe(200)
  const unknown = await harness.api('GET', `${path}?limt=5`, { headers: bearer(token) })
  expect(unknown.status).toBe(400)
  const session = await harness.createSession()
  for (const headers of [{}, session, { Authorization: 'Basic YTpi' }]) {
    const answer = await harness.api('GET', path, { headers })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="gps"')
  }
  const { secret } = await harness.createKey({ scopes: SCOPES })
  for (const bad of [secret, newShareToken(), 'garbage']) {
    const answer = await harness.api('GET', path, { headers: { ...session, ...bearer(bad) } })
    expect(answer.status).toBe(404)
  }
  // The token grants nothing else.
  for (const other of ['/devices', '/stream', '/session', '/shares', '/keys']) {
    expect((await harness.api('GET', other, { headers: bearer(token) })).status).toBe(401)
  }
})

describe.each(withoutShares)('%s', (call, expected) => {
  const { needs, scope, status: ok = 200, stranger } = expected
  const [method = '', pattern = ''] = call.split(' ')
  const open = needs === 'nobody'
  /** An authorised caller. */
  const entitled = needs === 'platform' ? platforms : admins
  const isForKeys = needs === 'viewer' || needs === 'dispatcher' || needs === 'admin'
  const changing = method !== 'GET'

  async function ask(harness: AdminHarness, headers: Record<string, string>) {
    await expected.before?.(harness)
    const path = typeof expected.path === 'function' ? expected.path() : (expected.path ?? pattern)
    const body = typeof expected.body === 'function' ? expected.body() : expected.body
    // Each sign-in as another operator, to stay below the limit of failures.
    const sent = open ? { ...body, email: newEmail() } : body
    return harness.api(method, path, {
      headers,
      ...(sent !== undefined && { body: sent }),
    })
  }

  test('an admin may call it, unless it is for platform operators', async () => {
    const answer = await ask(admins.harness, await admins.harness.createSession())
    expect(answer.status).toBe(needs === 'platform' ? 403 : ok)
  })

  test('an admin of another account sees nothing of this one, by session or by key', async () => {
    const { harness } = strangers
    const { secret } = await harness.createKey({ accountId: 'acc-2' })
    const session = await ask(harness, await harness.createSession())
    const key = await ask(harness, bearer(secret))
    expect(session.status).toBe(stranger)
    expect(key.status).toBe(isForKeys || open ? stranger : 403)
    for (const { text } of [session, key]) expect(text).not.toMatch(/of-acc-1|Account acc-1/)
  })

  test('a call without credentials gets 401 with a challenge that mentions no token', async () => {
    const answer = await ask(admins.harness, {})
    expect(answer.status).toBe(401)
    if (!open) expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="gps"')
  })

  test('a malformed, unknown, expired or revoked key gets the same 401', async () => {
    const { harness } = admins
    const expired = await harness.createKey({ expiresAt: harness.clock.now() })
    const revoked = await harness.createKey({ revokedAt: T0 })
    const answers = []
    for (const secret of ['garbage', newApiKey(), expired.secret, revoked.secret]) {
      answers.push(await ask(harness, bearer(secret)))
    }
    answers.push(await ask(harness, { Authorization: 'Basic YTpi' }))
    for (const answer of answers) {
      expect(answer.status).toBe(401)
      expect(answer.text).toBe(answers[0]?.text)
      if (open) continue
      expect(answer.headers.get('www-authenticate')).toBe(
        'Bearer realm="gps", error="invalid_token"',
      )
    }
  })

  test('a malformed, unknown or ended session gets 401', async () => {
    const { harness } = admins
    const over = await harness.createSession()
    const cookies = ['gps_session=garbage', `gps_session=${'A'.repeat(22)}`, over.Cookie]
    harness.clock.time += 30 * 60_000
    try {
      for (const Cookie of cookies) {
        const answer = await ask(harness, { Cookie, 'X-Requested-With': 'console' })
        expect(answer.status).toBe(401)
      }
    } finally {
      harness.clock.time -= 30 * 60_000
    }
  })

  test.each(SCOPES)(
    'a key with only the scope %s may call it only where that scope is enough',
    async (own) => {
      const { secret } = await admins.harness.createKey({ scopes: [own] })
      const answer = await ask(admins.harness, bearer(secret))
      const may = isForKeys && (own === 'admin' || own === scope)
      expect(answer.status).toBe(may || open ? ok : 403)
      if (answer.status === 403 && isForKeys) {
        expect(answer.headers.get('www-authenticate')).toBe(
          `Bearer realm="gps", error="insufficient_scope", scope="${scope ?? 'admin'}"`,
        )
      }
    },
  )

  test('a viewer may call it only where viewers may', async () => {
    const answer = await ask(viewers.harness, await viewers.harness.createSession())
    const forAll = open || needs === 'viewer' || needs === 'session'
    expect(answer.status).toBe(forAll ? ok : 403)
    const [role = ''] = needs.split(' ')
    if (role === 'dispatcher' || role === 'admin') {
      const roles = role === 'dispatcher' ? 'dispatcher or admin' : 'admin'
      expect(answer.body.message).toBe(`this call needs the role ${roles}; yours is viewer`)
    }
  })

  test('a dispatcher may call it only where dispatchers may', async () => {
    const answer = await ask(dispatchers.harness, await dispatchers.harness.createSession())
    const isForThem = ['nobody', 'session', 'viewer', 'dispatcher', 'dispatcher session'].includes(
      needs,
    )
    expect(answer.status).toBe(isForThem ? ok : 403)
    if (needs === 'admin' || needs === 'admin session') {
      expect(answer.body.message).toBe('this call needs the role admin; yours is dispatcher')
    }
  })

  test('an operator who must change the password may only call the session’s routes', async () => {
    const { harness } = platforms
    const { id } = await harness.createOperator({
      role: 'admin',
      platform: true,
      mustChangePassword: true,
    })
    const answer = await ask(harness, await harness.createSession(id))
    const isOfSession = pattern === '/session' || pattern === '/session/password'
    expect(answer.status).toBe(isOfSession ? ok : 403)
    if (!isOfSession) expect(answer.body.message).toContain('choose your own password first')
  })

  test('a platform operator may call it, and an account’s key only where keys may; the response must not be cached', async () => {
    const { harness } = platforms
    const { secret } = await harness.createKey({ scopes: SCOPES })
    const answer = await ask(harness, await harness.createSession())
    expect(answer.status).toBe(ok)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-request-id')).not.toBeNull()
    expect((await ask(harness, bearer(secret))).status).toBe(isForKeys || open ? ok : 403)
  })

  test('a request that another site may have sent with an admin’s cookie is rejected if it changes something', async () => {
    for (const headers of [{}, { 'X-Requested-With': 'XMLHttpRequest' }]) {
      const { Cookie } = await entitled.harness.createSession()
      const answer = await ask(entitled.harness, { Cookie, ...headers })
      expect(answer.status).toBe(changing && !open ? 403 : ok)
    }
  })

  test('keys of a suspended account get 403, and its sessions end', async () => {
    const { harness } = admins
    const { secret } = await harness.createKey()
    const session = await harness.createSession()
    await harness.store.suspendAccount({ accountId: 'acc-1', suspended: true })
    const statuses = [
      (await ask(harness, bearer(secret))).status,
      (await ask(harness, session)).status,
    ]
    await harness.store.suspendAccount({ accountId: 'acc-1', suspended: false })
    expect(statuses).toEqual(open ? [401, 401] : [403, 401])
    if (!open) expect((await ask(harness, session)).status).toBe(401)
  })
})

test('an unknown path is a 404, a wrong method a 405 that lists the allowed ones', async () => {
  const { harness } = admins
  expect((await harness.api('GET', '/nothing')).body.error).toBe('NOT_FOUND')
  const answer = await harness.api('DELETE', '/keys')
  expect(answer.body.error).toBe('METHOD_NOT_ALLOWED')
  expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST'])
  // Not the methods of a device with that name.
  const summary = await harness.api('PUT', '/devices/summary')
  expect(summary.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD'])
})

test('a valid key takes precedence over a cookie, and needs no X-Requested-With', async () => {
  const { harness } = admins
  const { secret } = await harness.createKey()
  const headers = { ...bearer(secret), Cookie: 'gps_session=garbage' }
  const answer = await harness.api('POST', '/keys', { body: { name: 'gateway' }, headers })
  expect(answer.status).toBe(201)
})
