import { beforeEach, expect, test } from '@jest/globals'
import { hashPassword } from '../../../admin-api/sign-in/password.ts'
import { PASSWORD, startAdmin, type AdminHarness } from '../admin-harness.ts'

const NEXT = 'quite another long password'
const EMAIL = 'ana@example.org'

let harness: AdminHarness
let headers: Record<string, string>
beforeEach(async () => {
  harness = await startAdmin()
  headers = await harness.createSession()
})

function change(body: unknown) {
  return harness.api('POST', '/session/password', { body, headers })
}

async function signIn(password: string): Promise<number> {
  return (await harness.api('POST', '/session', { body: { email: EMAIL, password } })).status
}

async function isSignedIn(session: Record<string, string>): Promise<boolean> {
  return (await harness.api('GET', '/session', { headers: session })).status === 200
}

test('after a password change only the new password signs in, and other sessions end', async () => {
  const elsewhere = await harness.createSession()
  const colleague = await harness.createSession((await harness.createOperator()).id)
  const answer = await change({ current: PASSWORD, next: NEXT })
  expect(answer.body).toMatchObject({ code: 200, data: null })
  expect(await isSignedIn(headers)).toBe(true)
  expect(await isSignedIn(elsewhere)).toBe(false)
  expect(await isSignedIn(colleague)).toBe(true)
  expect(await signIn(PASSWORD)).toBe(401)
  expect(await signIn(NEXT)).toBe(200)
})

test('a wrong current password is a 400 that names it, and changes nothing', async () => {
  const elsewhere = await harness.createSession()
  const answer = await change({ current: 'wrong', next: NEXT })
  expect(answer.body).toMatchObject({ code: 400, error: 'INVALID_PARAMS' })
  expect(answer.body.details?.map(({ field }) => field)).toEqual(['current'])
  expect(await isSignedIn(elsewhere)).toBe(true)
  expect(await signIn(PASSWORD)).toBe(200)
})

test('guesses are counted together with failed sign-ins', async () => {
  for (let turn = 0; turn < 5; turn += 1) {
    expect((await change({ current: `wrong ${turn}`, next: NEXT })).status).toBe(400)
    expect(await signIn(`wrong ${turn}`)).toBe(401)
  }
  const refused = await change({ current: PASSWORD, next: NEXT })
  expect(refused.body.error).toBe('RATE_LIMITED')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(14 * 60)
  expect(await signIn(PASSWORD)).toBe(429)
})

test('the current password is not accepted as the new one: a 400 names next, and nothing changes', async () => {
  const current = 'café au lait, long'
  const passwordHash = await hashPassword(current)
  const operator = await harness.createOperator({ passwordHash, mustChangePassword: true })
  const own = await harness.createSession(operator.id)
  const elsewhere = await harness.createSession(operator.id)
  for (const next of [current, current.normalize('NFD')]) {
    const body = { current, next }
    const answer = await harness.api('POST', '/session/password', { body, headers: own })
    expect(answer.body).toMatchObject({ code: 400, error: 'INVALID_PARAMS' })
    expect(answer.body.details).toEqual([
      { field: 'next', message: 'next must differ from current' },
    ])
  }
  expect(await isSignedIn(elsewhere)).toBe(true)
  expect((await harness.api('GET', '/devices', { headers: own })).status).toBe(403)
})

test('a password that an admin sets meanwhile stays', async () => {
  let meanwhile = async () => {}
  const overtaken = await startAdmin({
    wrapStore: (store) => ({
      ...store,
      async findSession(tokenHash) {
        const found = await store.findSession(tokenHash)
        const act = meanwhile
        meanwhile = async () => {}
        await act()
        return found
      },
    }),
  })
  const session = await overtaken.createSession()
  const operator = { accountId: 'acc-1', operatorId: 'op-1' }
  const passwordHash = await hashPassword('what the admin has set')
  meanwhile = async () => {
    await overtaken.store.changeOperator({ ...operator, passwordHash })
    await overtaken.store.endSessions({ operatorId: 'op-1' })
  }
  const body = { current: PASSWORD, next: NEXT }
  const answer = await overtaken.api('POST', '/session/password', { body, headers: session })
  const kept = await overtaken.store.findOperator(operator)
  expect(answer.status).toBe(400)
  expect(kept?.passwordHash).toBe(passwordHash)
})
