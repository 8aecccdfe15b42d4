import { beforeAll, expect, test } from '@jest/globals'
import { startAdmin, type AdminHarness } from '../admin-harness.ts'

const NEXT = 'quite another long password'

let harness: AdminHarness
let headers: Record<string, string>
beforeAll(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
})

let made = 0

/** A new operator with a generated password. */
async function createOperator(body: object = {}) {
  made += 1
  const email = `new-${made}@example.org`
  const sent = { email, role: 'admin', ...body }
  const { status, body: answer } = await harness.api('POST', '/operators', { headers, body: sent })
  return { email, status, operator: answer.data as { id: string; password?: string } }
}

async function signIn(email: string, password = ''): Promise<Record<string, string>> {
  const answer = await harness.api('POST', '/session', { body: { email, password } })
  expect(answer.status).toBe(200)
  const [cookie = ''] = answer.headers.getSetCookie()
  return { Cookie: cookie.split(';')[0] ?? '', 'X-Requested-With': 'console' }
}

test('an operator created without a password gets one, shown only in this response', async () => {
  const { email, status, operator } = await createOperator()
  expect(status).toBe(201)
  expect(operator).toMatchObject({ email, mustChangePassword: true })
  expect(operator.password).toMatch(/^[0-9A-Za-z]{24}$/)
  const list = await harness.api('GET', '/operators', { headers })
  expect(list.body.data?.items).toContainEqual(
    expect.objectContaining({ email, mustChangePassword: true }),
  )
  const audit = await harness.api('GET', '/audit', { headers })
  for (const text of [list.text, audit.text, ...harness.logged]) {
    expect(text).not.toContain(operator.password)
  }
})

test('an operator created with a password keeps it, and no response shows it', async () => {
  const { email, operator } = await createOperator({ password: NEXT })
  expect(operator).toMatchObject({ email, mustChangePassword: false })
  expect(operator).not.toHaveProperty('password')
  const own = await signIn(email, NEXT)
  expect((await harness.api('GET', '/devices', { headers: own })).status).toBe(200)
})

test('until a generated password is changed, only session calls are allowed', async () => {
  const { email, operator } = await createOperator()
  const own = await signIn(email, operator.password)
  const session = await harness.api('GET', '/session', { headers: own })
  expect(session.body.data).toMatchObject({ operator: { email, mustChangePassword: true } })
  const share = { name: 'x', deviceIds: ['x'], expiresAt: new Date(harness.clock.now() + 9_000) }
  for (const [method, path, body] of [
    ['GET', '/devices'],
    ['GET', '/stream'],
    ['POST', '/shares', share],
    ['POST', '/operators', { email: 'x@example.org', role: 'viewer' }],
  ] as const) {
    const refused = await harness.api(method, path, { headers: own, ...(body && { body }) })
    expect(refused.status).toBe(403)
    expect(refused.body.message).toBe(
      'choose your own password first: POST /api/v1/session/password',
    )
  }
  const body = { current: operator.password, next: NEXT }
  const changed = await harness.api('POST', '/session/password', { headers: own, body })
  expect(changed.status).toBe(200)
  expect((await harness.api('GET', '/devices', { headers: own })).status).toBe(200)
  const after = await harness.api('GET', '/session', { headers: await signIn(email, NEXT) })
  expect(after.body.data).toMatchObject({ operator: { mustChangePassword: false } })
})

test('a generated password must still be changed after an admin sets the same one again', async () => {
  const { email, operator } = await createOperator()
  const { id, password } = operator
  const path = `/operators/${id}`
  const same = await harness.api('PATCH', path, { headers, body: { password } })
  expect(same.body).toMatchObject({ code: 200, data: { mustChangePassword: true } })
  const body = { password, role: 'viewer' }
  const both = await harness.api('PATCH', path, { headers, body })
  expect(both.body.data).toMatchObject({ role: 'viewer', mustChangePassword: true })
  const own = await signIn(email, password)
  expect((await harness.api('GET', '/devices', { headers: own })).status).toBe(403)
})

test('a generated password must still be changed after an admin changes the role, not the password', async () => {
  const { email, operator } = await createOperator()
  const path = `/operators/${operator.id}`
  const roles = await harness.api('PATCH', path, { headers, body: { role: 'dispatcher' } })
  expect(roles.body.data).toMatchObject({ role: 'dispatcher', mustChangePassword: true })
  await harness.api('PATCH', path, { headers, body: { password: NEXT } })
  const own = await signIn(email, NEXT)
  expect((await harness.api('GET', '/devices', { headers: own })).status).toBe(200)
})
