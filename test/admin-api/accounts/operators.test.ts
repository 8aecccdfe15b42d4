import { expect, test } from '@jest/globals'
import { verifyPassword } from '../../../admin-api/sign-in/password.ts'
import {
  adminForAllTests,
  bearer,
  PASSWORD,
  startAdmin,
  type AdminHarness,
} from '../admin-harness.ts'

const NEXT = 'quite another long password'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given))

function create(body: object, caller = headers) {
  return harness.api('POST', '/operators', { body, headers: caller })
}

function change(id: string, body: unknown, caller = headers) {
  return harness.api('PATCH', `/operators/${id}`, { body, headers: caller })
}

function remove(id: string, caller = headers) {
  return harness.api('DELETE', `/operators/${id}`, { headers: caller })
}

async function signIn(email: string, password: string): Promise<number> {
  return (await harness.api('POST', '/session', { body: { email, password } })).status
}

async function isSignedIn(session: Record<string, string>): Promise<boolean> {
  return (await harness.api('GET', '/session', { headers: session })).status === 200
}

test('a new operator signs in with the password, which is stored only as a hash', async () => {
  const answer = await create({ email: 'Bo@example.org', password: NEXT, role: 'viewer' })
  expect(answer.status).toBe(201)
  const { id, ...rest } = answer.body.data as { id: string }
  expect(rest).toEqual({
    email: 'Bo@example.org',
    role: 'viewer',
    platform: false,
    mustChangePassword: false,
    createdAt: new Date(harness.clock.now()).toISOString(),
  })
  const stored = await harness.store.findOperator({ accountId: 'acc-1', operatorId: id })
  expect(stored?.passwordHash).not.toContain(NEXT)
  expect(await verifyPassword(NEXT, stored?.passwordHash ?? '')).toBe(true)
  expect(await signIn('bo@EXAMPLE.org', NEXT)).toBe(200)
})

test('no key can create, change or remove an operator, with any scope', async () => {
  const { secret } = await harness.createKey()
  const { id, email } = await harness.createOperator()
  const body = { email: 'by-key@example.org', password: NEXT, role: 'admin', platform: null }
  for (const answer of [
    await create(body, bearer(secret)),
    await change(id, { password: NEXT }, bearer(secret)),
    await remove(id, bearer(secret)),
  ]) {
    expect(answer.body).toMatchObject({ code: 403, error: 'FORBIDDEN' })
    expect(answer.body.message).toContain('not for keys')
  }
  expect(await harness.store.findOperatorByEmail(body.email)).toBeUndefined()
  expect(await signIn(email, PASSWORD)).toBe(200)
  expect((await create(body)).body.data).toMatchObject({ role: 'admin', platform: false })
})

test('a new operator may have an e-mail like the first operator’s, admin@localhost', async () => {
  const body = { email: 'second@localhost', password: NEXT, role: 'viewer' }
  expect((await create(body)).status).toBe(201)
})

test('an e-mail address in use, in any case and account, is rejected for a new operator without naming its account', async () => {
  await harness.createOperator({ accountId: 'acc-2', email: 'Far.Away@example.org' })
  const answers = []
  for (const email of ['far.away@EXAMPLE.org', 'ANA@example.org']) {
    answers.push(await create({ email, password: NEXT, role: 'viewer' }))
  }
  for (const answer of answers) {
    expect(answer.body).toMatchObject({ code: 409, error: 'CONFLICT' })
    expect(answer.text).toBe(answers[0]?.text)
  }
})

test.each([
  ['email', { email: 'nobody' }],
  ['email', { email: ' ana2@example.org' }],
  ['email', { email: 'a\u0000b@example.org' }],
  ['email', { email: 'a\nb@example.org' }],
  ['email', { email: '\ud800@example.org' }],
  ['email', { email: '<b>@example.org' }],
  ['email', { email: `${'x'.repeat(60)}@${'y.'.repeat(100)}org` }],
  ['password', { password: '\ud800'.repeat(12) }],
  ['password', { password: '🚢'.repeat(11) }],
])('a new operator is rejected for an invalid %s: %j', async (field, fault) => {
  const good = { email: 'new@example.org', password: NEXT, role: 'viewer' }
  const answer = await create(
    field === 'email' ? { ...good, email: undefined, ...fault } : { ...good, ...fault },
  )
  expect(answer.body).toMatchObject({ code: 400, error: 'INVALID_PARAMS' })
  expect(answer.body.details?.map((found) => found.field)).toEqual([field])
  expect(answer.text).not.toContain(NEXT)
  expect(await harness.store.findOperatorByEmail('new@example.org')).toBeUndefined()
})

test.each([12, 1024])('a new operator may have a password of %i characters', async (length) => {
  const email = `long-${length}@example.org`
  expect((await create({ email, password: 'ä'.repeat(length), role: 'viewer' })).status).toBe(201)
  expect(await signIn(email, 'ä'.repeat(length))).toBe(200)
})

test('a changed role takes effect with the next request of the operator’s session', async () => {
  const { id } = await harness.createOperator()
  const session = await harness.createSession(id)
  const list = () => harness.api('GET', '/operators', { headers: session })
  expect((await list()).status).toBe(403)
  const answer = await change(id, { role: 'admin' })
  expect(answer.body.data).toMatchObject({ id, role: 'admin' })
  expect((await list()).status).toBe(200)
  await change(id, { role: 'viewer' })
  expect((await list()).status).toBe(403)
})

test('changing an operator’s password ends all sessions of that operator and nobody else’s', async () => {
  const { id, email } = await harness.createOperator()
  const { id: other } = await harness.createOperator()
  const sessions = [await harness.createSession(id), await harness.createSession(id)]
  const others = [await harness.createSession(other), headers]
  expect((await change(id, { password: NEXT })).status).toBe(200)
  for (const session of sessions) expect(await isSignedIn(session)).toBe(false)
  for (const session of others) expect(await isSignedIn(session)).toBe(true)
  expect(await signIn(email, PASSWORD)).toBe(401)
  expect(await signIn(email, NEXT)).toBe(200)
})

test('changing an operator without a new password ends no session', async () => {
  const { id } = await harness.createOperator()
  const session = await harness.createSession(id)
  await change(id, { role: 'admin' })
  expect(await isSignedIn(session)).toBe(true)
})

test('changing an operator does not change the e-mail', async () => {
  const { id } = await harness.createOperator()
  const answer = await change(id, { email: 'new@example.org' })
  expect(answer.body.details?.map((fault) => fault.field)).toEqual(['email'])
})

test('removing an operator ends its sessions', async () => {
  const { id, email } = await harness.createOperator()
  const session = await harness.createSession(id)
  const answer = await remove(id)
  expect(answer.body).toMatchObject({ code: 200, data: null })
  expect(await isSignedIn(session)).toBe(false)
  expect(await signIn(email, PASSWORD)).toBe(401)
  expect((await remove(id)).status).toBe(404)
  expect((await change(id, { role: 'admin' })).status).toBe(404)
})

test('only a platform operator can create, change or remove another, never an admin or a key', async () => {
  const { id: root } = await harness.createOperator({ role: 'admin', platform: true })
  const { id: target, email } = await harness.createOperator({ platform: true })
  const { id: plain } = await harness.createOperator()
  const session = await harness.createSession(root)
  const { secret } = await harness.createKey()
  const body = { email: 'p@example.org', password: NEXT, role: 'viewer' }
  for (const caller of [headers, bearer(secret)]) {
    const statuses = [
      (await create({ ...body, platform: true }, caller)).status,
      (await create({ ...body, platform: false }, caller)).status,
      (await change(plain, { platform: true }, caller)).status,
      (await change(plain, { platform: false }, caller)).status,
      (await change(target, { password: NEXT }, caller)).status,
      (await change(target, { role: 'admin' }, caller)).status,
      (await change(target, { platform: false }, caller)).status,
      (await remove(target, caller)).status,
    ]
    expect(statuses).toEqual(statuses.map(() => 403))
  }
  expect(await harness.store.findOperatorByEmail(email)).toMatchObject({
    role: 'viewer',
    platform: true,
  })
  const made = await create({ ...body, platform: true }, session)
  expect(made.body.data).toMatchObject({ platform: true })
  expect((await change(plain, { platform: true }, session)).body.data).toMatchObject({
    platform: true,
  })
  expect((await change(target, { password: NEXT }, session)).status).toBe(200)
  expect((await change(target, { platform: false }, session)).body.data).toMatchObject({
    platform: false,
  })
  expect((await remove(plain, session)).status).toBe(200)
})

test('only the service changes platform operators', async () => {
  const own = await startAdmin({ operator: { platform: true } })
  const session = await own.createSession()
  await own.createOperator({ role: 'admin' })
  const path = '/operators/op-1'
  const stepDown = { body: { platform: false }, headers: session }
  expect((await own.api('PATCH', path, stepDown)).body.error).toBe('CONFLICT')
  expect((await own.api('DELETE', path, { headers: session })).body.error).toBe('CONFLICT')
  await own.createOperator({ platform: true })
  expect((await own.api('PATCH', path, stepDown)).status).toBe(200)
})

test('the list has only the operators of the account, oldest first, page by page', async () => {
  const own = await startAdmin()
  const session = await own.createSession()
  const made = ['op-1']
  for (let operator = 0; operator < 4; operator += 1) made.push((await own.createOperator()).id)
  await own.createOperator({ accountId: 'acc-2' })
  const seen = await own.allPages('/operators?limit=2', { headers: session })
  expect(JSON.stringify(seen)).not.toContain('scrypt')
  expect(seen.map(({ id }) => id)).toEqual(made)
})

test('calls for another account’s operators get a 404 and change nothing', async () => {
  const far = await harness.createOperator({ accountId: 'acc-2', role: 'admin' })
  const root = await harness.createOperator({ role: 'admin', platform: true })
  for (const caller of [headers, await harness.createSession(root.id)]) {
    const unknown = await change('unknown', { role: 'viewer' }, caller)
    for (const answer of [
      await change(far.id, { role: 'viewer' }, caller),
      await change(far.id, { password: NEXT }, caller),
      await remove(far.id, caller),
    ]) {
      expect(answer.status).toBe(404)
      expect(answer.text).toBe(unknown.text)
    }
  }
  expect(await harness.store.findOperatorByEmail(far.email)).toEqual(far)
})

test('operators are found by their e-mail, sorted, and filtered by role', async () => {
  const other = await startAdmin()
  const admin = await other.createSession()
  for (const [email, role] of [
    ['zoe@depot.example', 'viewer'],
    ['bo@depot.example', 'dispatcher'],
  ]) {
    other.clock.time += 1
    const body = { email, role, password: NEXT }
    await other.api('POST', '/operators', { headers: admin, body })
  }
  const found = async (query: string) =>
    (await other.allPages(`/operators?limit=1&${query}`, { headers: admin })).map(
      (one) => (one as { email?: string }).email,
    )
  expect(await found('q=depot')).toEqual(['zoe@depot.example', 'bo@depot.example'])
  expect(await found('q=depot&sort=email')).toEqual(['bo@depot.example', 'zoe@depot.example'])
  expect(await found('role=dispatcher')).toEqual(['bo@depot.example'])
})
