import { createHook } from 'node:async_hooks'
import { beforeEach, expect, test } from '@jest/globals'
import { hashPassword } from '../../../admin-api/sign-in/password.ts'
import { DependencyError } from '../../../runtime/errors.ts'
import { eventually } from '../../eventually.ts'
import { startAdmin, PASSWORD, type AdminHarness } from '../admin-harness.ts'

const EMAIL = 'ana@example.org'

let harness: AdminHarness
beforeEach(async () => {
  harness = await startAdmin()
})

function signIn(body: object = {}) {
  return harness.api('POST', '/session', { body: { email: EMAIL, password: PASSWORD, ...body } })
}

test('signing in is rejected with 429 after 10 failures of one address and e-mail', async () => {
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

test('concurrent sign-ins get no additional guesses', async () => {
  const { email } = await harness.createOperator({ passwordHash: await hashPassword(PASSWORD) })
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, turn) => signIn({ email, password: `wrong ${turn}` })),
  )
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(10)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(20)
})

test('frequent successful sign-ins do not block signing in', async () => {
  for (let turn = 0; turn < 12; turn += 1) expect((await signIn()).status).toBe(200)
})

test('an address that tries all e-mails is blocked, but operators who signed in from it are not', async () => {
  // An operator's check may wait for one of the flood; on a busy machine both take seconds.
  const flooded = await startAdmin({ lateAnswersAfterMs: 8_000 })
  const realHash = await hashPassword(PASSWORD)
  const { email } = await flooded.createOperator({ passwordHash: realHash })
  const attempt = async (body: object) => (await flooded.api('POST', '/session', { body })).status
  let flooding = true
  const answers: number[] = []
  const flood = Array.from({ length: 40 }, async (_, connection) => {
    for (let turn = 0; flooding; turn += 1) {
      const body = { email: `${connection}-${turn}@example.org`, password: 'wrong' }
      answers.push(await attempt(body))
    }
  })
  await eventually(() => answers.includes(429))
  const good: number[] = []
  while (good.length < 8) good.push(await attempt({ email, password: PASSWORD }))
  flooding = false
  await Promise.all(flood)
  expect(good).toEqual(Array<number>(8).fill(200))
  expect(answers.filter((status) => status === 401).length).toBeLessThanOrEqual(30)
  expect(new Set(answers)).toEqual(new Set([401, 429]))
})

test('clients that keep trying to sign in block nobody else', async () => {
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

test('an unavailable store is a 503, never a 401, and counts as no failed sign-in', async () => {
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

/** The password hashes that are computed during `work`. */
async function hashesDuring(work: () => Promise<unknown>): Promise<number> {
  let hashes = 0
  const hook = createHook({
    init(_, type) {
      if (type === 'SCRYPTREQUEST') hashes += 1
    },
  }).enable()
  await work()
  hook.disable()
  return hashes
}

test('each failed sign-in computes one hash, for known and unknown e-mails, below and beyond its address’s limit', async () => {
  const passwordHash = await hashPassword(PASSWORD)
  const stranger = await harness.createOperator({ accountId: 'acc-2', passwordHash })
  const fresh = await harness.createOperator({ passwordHash, mustChangePassword: true })
  const known = await harness.createOperator({ passwordHash })
  const suspended = await harness.createOperator({ accountId: 'acc-2', passwordHash })
  await harness.store.suspendAccount({ accountId: 'acc-2', suspended: true })
  const emails = [stranger, fresh, known, suspended].map(({ email }) => email)
  emails.push('nobody@example.org')
  const fail = async (email: string) => {
    const answer = await signIn({ email, password: 'wrong' })
    return { status: answer.status, text: answer.text.replace(/\d+ s/, 'n s') }
  }
  const failedTwice = async (email: string) => {
    const answers: unknown[] = []
    const hashes = await hashesDuring(async () => {
      answers.push(...(await Promise.all([fail(email), fail(email)])))
    })
    return { hashes, answers }
  }
  const below = []
  for (const email of emails) below.push(await failedTwice(email))
  for (const { answers } of below) expect(answers).toEqual(below[0]?.answers)
  expect(below.map(({ hashes }) => hashes)).toEqual([2, 2, 2, 2, 2])
  for (let n = 0; n < 20; n += 1) expect((await fail(`${n}@example.org`)).status).toBe(401)
  const beyond = []
  for (const email of emails) beyond.push(await failedTwice(email))
  for (const { answers } of beyond) expect(answers).toEqual(beyond[0]?.answers)
  expect(beyond[0]?.answers).toMatchObject([{ status: 429 }, { status: 429 }])
  expect(beyond.map(({ hashes }) => hashes)).toEqual([2, 2, 2, 2, 2])
})
