import { expect, test } from '@jest/globals'
import { adminForAllTests, bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'

const NEXT = 'quite another long password'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given), { operator: { platform: true } })

let made = 0
function newAdmin() {
  made += 1
  return { email: `admin-${made}@example.org`, password: NEXT }
}

function create(body: object) {
  return harness.api('POST', '/accounts', { body, headers })
}

function change(id: string, body: unknown) {
  return harness.api('PATCH', `/accounts/${id}`, { body, headers })
}

async function signIn(email: string) {
  return harness.api('POST', '/session', { body: { email, password: NEXT } })
}

test('a new account has an admin, who signs in to it and finds it empty', async () => {
  const admin = newAdmin()
  const answer = await create({ name: 'Harbour <b>tugs</b>', admin })
  expect(answer.status).toBe(201)
  const { id, ...rest } = answer.body.data as { id: string }
  expect(rest).toEqual({
    name: 'Harbour <b>tugs</b>',
    suspended: false,
    createdAt: new Date(harness.clock.now()).toISOString(),
    admin: { id: expect.any(String), email: admin.email, role: 'admin' },
  })
  const signedIn = await signIn(admin.email)
  expect(signedIn.body.data).toMatchObject({
    operator: { email: admin.email, role: 'admin', platform: false },
    account: { id, name: 'Harbour <b>tugs</b>' },
  })
  const Cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const keys = await harness.api('GET', '/keys', { headers: { Cookie } })
  expect(keys.body.data?.items).toEqual([])
  const operators = await harness.api('GET', '/operators', { headers: { Cookie } })
  expect(operators.body.data?.items?.map(({ email }) => email)).toEqual([admin.email])
})

test('a new account is not created if the e-mail is taken', async () => {
  const before = await harness.store.pageAccounts({ limit: 1000 })
  const answer = await create({ name: 'x', admin: { email: 'ANA@example.org', password: NEXT } })
  expect(answer.body).toMatchObject({ code: 409, error: 'CONFLICT' })
  expect(await harness.store.pageAccounts({ limit: 1000 })).toEqual(before)
})

test.each([
  [['admin.email', 'admin.password'], { admin: {} }],
  [['admin.email'], { admin: { email: 'nobody', password: NEXT } }],
  [['admin.platform'], { admin: { email: 'x@example.org', password: NEXT, platform: true } }],
  [['name'], { name: 'x\u0000' }],
])('a new account is rejected for faults in %j: %j', async (fields, fault) => {
  const good = { name: 'x', admin: { email: 'x@example.org', password: NEXT } }
  const answer = await create({ ...good, ...fault })
  expect(answer.body).toMatchObject({ code: 400, error: 'INVALID_PARAMS' })
  expect(answer.body.details?.map(({ field }) => field)).toEqual(fields)
  for (const { field, message } of answer.body.details ?? []) {
    expect(message).toContain(field.replace('.platform', ''))
  }
  expect(answer.text).not.toContain(NEXT)
})

test('a suspended account rejects its keys and operators until it is reinstated; other accounts are unaffected', async () => {
  const admin = newAdmin()
  const { id } = (await create({ name: 'x', admin })).body.data as { id: string }
  const key = await harness.createKey({ accountId: id })
  const ask = async () =>
    (await harness.api('GET', '/keys', { headers: bearer(key.secret) })).status
  const answer = await change(id, { suspended: true })
  expect(answer.body.data).toMatchObject({ id, name: 'x', suspended: true })
  expect([await ask(), (await signIn(admin.email)).status]).toEqual([403, 401])
  expect((await harness.api('GET', '/keys', { headers })).status).toBe(200)
  expect((await change(id, { suspended: false })).body.data).toMatchObject({ suspended: false })
  expect([await ask(), (await signIn(admin.email)).status]).toEqual([200, 200])
})

test('operators cannot suspend their own account', async () => {
  expect((await change('acc-1', { suspended: true })).body.error).toBe('CONFLICT')
  expect((await change('acc-1', { suspended: false })).status).toBe(200)
  expect((await harness.api('GET', '/session', { headers })).status).toBe(200)
})

test('suspending an account that does not exist is a 404', async () => {
  for (const id of ['unknown', '%00', "'--", '%24gt', encodeURIComponent('{"$gt":""}')]) {
    expect((await change(id, { suspended: true })).status).toBe(404)
  }
})

test('the list has every account, oldest first, page by page', async () => {
  const own = await startAdmin({ operator: { platform: true } })
  const session = await own.createSession()
  const ids = []
  for (const name of ['b', 'a', 'c']) {
    own.clock.time += 1
    const answer = await own.api('POST', '/accounts', {
      body: { name, admin: newAdmin() },
      headers: session,
    })
    ids.push(answer.body.data?.['id'])
  }
  const seen = await own.allPages('/accounts?limit=2', { headers: session })
  expect(seen.map(({ id }) => id)).toEqual(['acc-1', 'acc-2', ...ids])
})
