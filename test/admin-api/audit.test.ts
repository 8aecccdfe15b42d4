import { beforeEach, expect, test } from '@jest/globals'
import { DependencyError } from '../../runtime/errors.ts'
import type { AuditEntry } from '../../store/back-office.ts'
import { bearer, PASSWORD, startAdmin, type AdminHarness } from './admin-harness.ts'

const NEXT = 'quite another long password'

let harness: AdminHarness
let headers: Record<string, string>
beforeEach(async () => {
  harness = await startAdmin({ operator: { platform: true } })
  headers = await harness.createSession()
})

/** Advances by 1 ms: the order of events within one millisecond is unknown. */
function ask(method: string, path: string, body?: object, caller = headers) {
  harness.clock.time += 1
  return harness.api(method, path, { headers: caller, ...(body !== undefined && { body }) })
}

async function made(path: string, body: object): Promise<{ id: string; key: string }> {
  return (await ask('POST', path, body)).body.data as { id: string; key: string }
}

/** The entries of the audit, oldest first. */
async function recorded(accountId = 'acc-1'): Promise<AuditEntry[]> {
  const { entries } = await harness.store.pageAudit({ accountId, limit: 1000 })
  return [...entries].reverse()
}

test('an audit entry has the actor, the address and the request', async () => {
  const { id } = await made('/keys', { name: 'gateway' })
  const at = new Date(harness.clock.now()).toISOString()
  const entry = (await ask('GET', '/audit')).body.data?.items?.[0]
  expect(entry).toEqual({
    id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
    at,
    actor: { kind: 'operator', id: 'op-1', name: 'ana@example.org' },
    action: 'key.created',
    subject: { kind: 'key', id },
    details: { name: 'gateway', scopes: ['positions:write'] },
    address: '127.0.0.1',
    requestId: expect.any(String),
  })
  const named = { ...headers, 'X-Request-Id': 'my-own-name-for-it' }
  await ask('POST', `/keys/${id}/revoke`, undefined, named)
  expect((await recorded()).at(-1)?.requestId).toBe('my-own-name-for-it')
})

test('an audit entry names the key that acted', async () => {
  const { id, secret } = await harness.createKey({ name: 'robot' })
  await ask('POST', '/keys', { name: 'x' }, bearer(secret))
  expect((await recorded()).at(-1)?.actor).toEqual({ kind: 'key', id, name: 'robot' })
})

test('the audit records every step in a key’s life', async () => {
  const { id } = await made('/keys', { name: 'x', expiresAt: '2030-01-01T00:00:00Z' })
  const bounds = { name: 'y', expiresAt: null, deviceIds: ['boat-*'], rateLimit: 5 }
  await ask('PATCH', `/keys/${id}`, bounds)
  await ask('PATCH', `/keys/${id}`, { expiresAt: '2031-01-01T00:00:00+01:00' })
  await ask('POST', `/keys/${id}/rotate`, { graceSeconds: 60 })
  await ask('POST', `/keys/${id}/revoke`)
  const entries = await recorded()
  expect(entries.map(({ action, details }) => [action, details])).toEqual([
    [
      'key.created',
      { name: 'x', scopes: ['positions:write'], expiresAt: '2030-01-01T00:00:00.000Z' },
    ],
    ['key.changed', bounds],
    ['key.changed', { expiresAt: '2030-12-31T23:00:00.000Z' }],
    ['key.rotated', { graceSeconds: 60 }],
    ['key.revoked', undefined],
  ])
  for (const { subject } of entries) expect(subject).toEqual({ kind: 'key', id })
})

test('the audit records every change of an operator', async () => {
  const email = 'bo@example.org'
  const { id } = await made('/operators', { email, password: NEXT, role: 'viewer' })
  await ask('PATCH', `/operators/${id}`, { role: 'admin', platform: true })
  await ask('PATCH', `/operators/${id}`, { password: `${NEXT}!` })
  await ask('POST', '/session', { email, password: `${NEXT}!` }, {})
  const session = await harness.createSession(id)
  const passwords = { current: `${NEXT}!`, next: NEXT }
  await ask('POST', '/session/password', passwords, session)
  await ask('DELETE', `/operators/${id}`)
  const entries = await recorded()
  expect(entries.map(({ action, actor, details }) => [action, actor.name, details])).toEqual([
    ['operator.created', 'ana@example.org', { email, role: 'viewer', platform: false }],
    ['operator.changed', 'ana@example.org', { role: 'admin', platform: true }],
    ['operator.changed', 'ana@example.org', { passwordChanged: true }],
    ['session.created', email, undefined],
    ['operator.password-changed', email, undefined],
    ['operator.deleted', 'ana@example.org', { email }],
  ])
  for (const { subject } of entries) expect(subject).toEqual({ kind: 'operator', id })
})

test('changes of an account are in its own audit and in the platform operator’s', async () => {
  const admin = { email: 'cleo@example.org', password: NEXT }
  const { id } = await made('/accounts', { name: 'Tugs', admin })
  await ask('PATCH', `/accounts/${id}`, { suspended: true })
  await ask('PATCH', `/accounts/${id}`, { suspended: false })
  const names = async (accountId?: string) =>
    new Set((await recorded(accountId)).map(({ actor, address }) => `${actor.name} ${address}`))
  expect(await names(id)).toEqual(new Set(['platform platform']))
  expect(await names()).toEqual(new Set(['ana@example.org 127.0.0.1']))
  for (const entries of [await recorded(id), await recorded()]) {
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ['account.created', { name: 'Tugs', admin: { id: expect.any(String), email: admin.email } }],
      ['account.suspended', { name: 'Tugs' }],
      ['account.resumed', { name: 'Tugs' }],
    ])
    for (const { subject } of entries) expect(subject).toEqual({ kind: 'account', id })
  }
  expect(await recorded('acc-2')).toEqual([])
})

test('a call that changes nothing is never recorded', async () => {
  const { id: keyId } = await harness.createKey({
    name: 'x',
    scopes: ['positions:write'],
    deviceIds: ['a', 'b'],
  })
  const { id: revoked } = await harness.createKey({ revokedAt: 1 })
  const { id: operatorId, email } = await harness.createOperator()
  const asked = [
    await ask('PATCH', `/keys/${keyId}`, { name: 'x', deviceIds: ['a', 'b'], expiresAt: null }),
    await ask('POST', `/keys/${revoked}/revoke`),
    await ask('PATCH', `/operators/${operatorId}`, { role: 'viewer', platform: false }),
    await ask('PATCH', '/accounts/acc-2', { suspended: false }),
    await ask('PATCH', '/accounts/acc-1', { suspended: false }),
    await ask('POST', `/keys/${revoked}/rotate`),
    await ask('PATCH', '/accounts/acc-1', { suspended: true }),
    await ask('DELETE', '/operators/op-1'),
    await ask('POST', '/operators', { email, password: NEXT, role: 'viewer' }),
    await ask('POST', '/accounts', { name: 'x', admin: { email, password: NEXT } }),
    await ask('POST', '/session/password', { current: 'wrong', next: NEXT }),
    await ask('POST', '/session', { email, password: 'wrong' }),
    await ask('PATCH', '/keys/unknown', { name: 'x' }),
    await ask('POST', '/keys/unknown/rotate'),
    await ask('POST', '/keys/unknown/revoke'),
    await ask('DELETE', '/operators/unknown'),
  ]
  expect(asked.map(({ status }) => status)).toEqual([
    200, 200, 200, 200, 200, 409, 409, 409, 409, 409, 400, 401, 404, 404, 404, 404,
  ])
  expect(await recorded()).toEqual([])
  expect(await recorded('acc-2')).toEqual([])
})

test('no password, secret, hash or session is ever in the audit', async () => {
  const email = 'bo@example.org'
  const operator = await made('/operators', { email, password: NEXT, role: 'admin' })
  await ask('PATCH', `/operators/${operator.id}`, { password: `${NEXT}!` })
  const admin = { email: 'cleo@example.org', password: `${NEXT}?` }
  const account = await made('/accounts', { name: 'Tugs', admin })
  await ask('POST', '/session/password', { current: PASSWORD, next: `${PASSWORD}!` })
  const key = await made('/keys', { name: 'x', scopes: ['admin'] })
  const rotated = (await ask('POST', `/keys/${key.id}/rotate`)).body.data as { key: string }
  await ask('POST', '/keys', { name: 'y' }, bearer(rotated.key))
  const signedIn = await harness.api('POST', '/session', { body: { email, password: `${NEXT}!` } })
  const token = /gps_session=([\w-]{22})/.exec(signedIn.headers.getSetCookie()[0] ?? '')?.[1]
  const [cookie = ''] = /[\w-]{22}$/.exec(headers['Cookie'] ?? '') ?? []

  const said = JSON.stringify([await recorded(), await recorded(account.id)])
  const shown = (await ask('GET', '/audit')).text
  expect((await recorded()).length).toBe(8)
  expect([token?.length, cookie.length, key.key.length, rotated.key.length]).toEqual([
    22, 22, 42, 42,
  ])
  for (const text of [said, shown]) {
    for (const secret of [NEXT, PASSWORD, key.key, rotated.key, token ?? '', cookie, 'scrypt']) {
      expect(text).not.toContain(secret)
    }
  }
})

test('the list has the entries of one account, newest first, page by page, while new ones are added', async () => {
  await harness.createOperator({ id: 'far', accountId: 'acc-2', role: 'admin' })
  const far = await harness.createSession('far')
  await ask('POST', '/keys', { name: 'of-acc-2' }, far)
  for (let key = 0; key < 5; key += 1) {
    await ask('POST', '/keys', { name: `key ${key}` })
  }
  const between = () => ask('POST', '/keys', { name: 'late' })
  const seen = await harness.allPages('/audit?limit=2', { headers, between })
  const names = seen.map(({ details }) => (details as { name: string }).name)
  expect(names).toEqual(['key 4', 'key 3', 'key 2', 'key 1', 'key 0'])
  const theirs = await ask('GET', '/audit', undefined, far)
  expect(theirs.body.data?.items?.map(({ details }) => details)).toEqual([
    { name: 'of-acc-2', scopes: ['positions:write'] },
  ])
  const own = await ask('GET', '/audit?limit=2')
  const stolen = await ask(
    'GET',
    `/audit?limit=2&cursor=${own.body.data?.nextCursor}`,
    undefined,
    far,
  )
  expect(stolen.body.details?.map(({ field }) => field)).toEqual(['cursor'])
})

test('a change is confirmed only after its audit entry is stored; otherwise 503', async () => {
  const deaf = await startAdmin({
    wrapStore: (store) => ({
      ...store,
      appendAudit: () => Promise.reject(new DependencyError('away', { retriable: true })),
    }),
  })
  const session = await deaf.createSession()
  const created = await deaf.api('POST', '/keys', { body: { name: 'x' }, headers: session })
  const body = { email: 'ana@example.org', password: PASSWORD }
  const signedIn = await deaf.api('POST', '/session', { body })
  expect(created.status).toBe(503)
  expect(created.text).not.toMatch(/gps_/)
  expect(signedIn.status).toBe(503)
  expect(signedIn.headers.getSetCookie()).toEqual([])
})

test('a retry first writes the audit entry that failed', async () => {
  let away = false
  harness = await startAdmin({
    operator: { platform: true },
    wrapStore: (store) => ({
      ...store,
      appendAudit: async (entry) => {
        if (away) throw new DependencyError('away', { retriable: true })
        await store.appendAudit(entry)
      },
    }),
  })
  const session = await harness.createSession()
  const key = await harness.createKey()
  const [risen, gone] = [await harness.createOperator(), await harness.createOperator()]
  const changes = [
    ['POST', `/keys/${key.id}/revoke`, undefined, 'key.revoked', 200],
    ['PATCH', `/operators/${risen.id}`, { role: 'admin' }, 'operator.changed', 200],
    ['DELETE', `/operators/${gone.id}`, undefined, 'operator.deleted', 404],
    ['PATCH', '/accounts/acc-2', { suspended: true }, 'account.suspended', 200],
  ] as const
  for (const [method, path, body, action, status] of changes) {
    const change = () =>
      harness.api(method, path, { headers: session, ...(body !== undefined && { body }) })
    away = true
    expect((await change()).status).toBe(503)
    expect((await change()).status).toBe(503)
    away = false
    expect((await change()).status).toBe(status)
    const { entries } = await harness.store.pageAudit({ accountId: 'acc-1', action, limit: 9 })
    expect({ action, entries: entries.length }).toEqual({ action, entries: 1 })
  }
  expect(await recorded('acc-2')).toHaveLength(1)
})

test('the audit is filtered by operator, action, subject and time; a cursor is valid only with its filter', async () => {
  const first = await made('/keys', { name: 'first' })
  const from = harness.clock.now()
  const second = await made('/keys', { name: 'second' })
  const { id, secret } = await harness.createKey({ name: 'robot' })
  await ask('POST', `/keys/${second.id}/revoke`, undefined, bearer(secret))
  const find = async (query: string) => {
    const { body } = await harness.api('GET', `/audit?${query}`, { headers })
    const subjects = (body.data?.items ?? []).map(({ action, subject }) => [action, subject])
    return { subjects, next: body.data?.nextCursor ?? null, details: body.details }
  }
  const key = (which: { id: string }) => ({ kind: 'key', id: which.id })
  expect((await find('operatorId=op-1&action=key.created')).subjects).toEqual([
    ...[
      ['key.created', key(second)],
      ['key.created', key(first)],
    ],
  ])
  expect((await find(`operatorId=${id}`)).subjects).toEqual([])
  expect((await find(`subjectId=${second.id}`)).subjects).toEqual([
    ...[
      ['key.revoked', key(second)],
      ['key.created', key(second)],
    ],
  ])
  const to = new Date(from + 1).toISOString()
  expect((await find(`to=${to}`)).subjects).toEqual([['key.created', key(first)]])
  expect((await find(`from=${to}`)).subjects).toHaveLength(2)
  const { next } = await find('action=key.created&limit=1')
  const rest = await find(`action=key.created&limit=1&cursor=${next ?? ''}`)
  expect(rest.subjects).toEqual([['key.created', key(first)]])
  expect((await find(`action=key.revoked&cursor=${next ?? ''}`)).details?.[0]?.field).toBe('cursor')
  expect((await find('operatorId=')).details?.[0]?.field).toBe('operatorId')
  expect((await find(`from=${to}&to=2020-01-01T00:00:00Z`)).details?.[0]?.field).toBe('from')
})
