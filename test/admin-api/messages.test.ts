import { beforeAll, expect, test } from '@jest/globals'
import { newShareToken } from '../../schemas/access/random-secrets.ts'
import { T0 } from '../samples.ts'
import {
  adminForAllTests,
  bearer,
  PASSWORD,
  startAdmin,
  type AdminHarness,
} from './admin-harness.ts'
import { IN_AN_HOUR, REPORTING, UNKNOWN, type RefusedCaller } from './refusal.ts'
import { BACK_OFFICE_REFUSALS } from './refusals-of-back-office.ts'
import { DEVICE_REFUSALS } from './refusals-of-devices.ts'

let harness: AdminHarness
let headers: Record<string, string>
const secrets: Record<string, string> = {}
const sessions: Record<string, Record<string, string>> = {}
adminForAllTests((given) => ({ harness, headers } = given), { operator: { platform: true } })

const callers = {
  session: () => headers,
  'session without header': () => ({ Cookie: headers['Cookie'] ?? '' }),
  'session with text/plain': () => ({ ...headers, 'Content-Type': 'text/plain' }),
  'session with gzip': () => ({ ...headers, 'Content-Encoding': 'gzip' }),
  'session with Last-Event-ID': () => ({ ...headers, 'Last-Event-ID': 'x' }),
  'another page': () => ({ 'Sec-Fetch-Site': 'cross-site' }),
  nobody: () => ({}),
  admin: () => sessions['admin'] ?? {},
  viewer: () => sessions['viewer'] ?? {},
  'admin key': () => bearer(secrets['admin'] ?? ''),
  'reporting key': () => bearer(secrets['reporting'] ?? ''),
  'bound key': () => bearer(secrets['bound'] ?? ''),
  'bound admin key': () => bearer(secrets['boundAdmin'] ?? ''),
  'unknown key': () => bearer(UNKNOWN),
  'unknown share': () => bearer(newShareToken()),
} satisfies Record<RefusedCaller, () => Record<string, string>>

beforeAll(async () => {
  for (const role of ['admin', 'viewer'] as const) {
    // In another account: in its own, op-1 must be the last admin.
    const { id } = await harness.createOperator({ role, accountId: 'acc-2' })
    sessions[role] = await harness.createSession(id)
  }
  await harness.project({ deviceId: 'tug' })
  const make = async (name: string, changes: Parameters<AdminHarness['createKey']>[0]) => {
    secrets[name] = (await harness.createKey(changes)).secret
  }
  await make('admin', {})
  await make('reporting', { id: 'good', scopes: ['positions:write'] })
  await make('bound', { scopes: ['devices:read'], deviceIds: ['tug'] })
  await make('boundAdmin', { deviceIds: ['tug'] })
  await make('expired', { id: 'spent', expiresAt: T0 })
  await make('revoked', { id: 'revoked', revokedAt: T0 })
})

// The messages that operators and programs get. Not `test.each`, which takes a percent sign in a path for a placeholder.
for (const [message, call, body, caller = 'session'] of [
  ...DEVICE_REFUSALS,
  ...BACK_OFFICE_REFUSALS,
]) {
  test(`"${message}" is the response to ${call}`, async () => {
    const [method = '', path = ''] = call.split(' ')
    const isWithKey = JSON.stringify(body)?.includes(REPORTING) === true
    const sent = isWithKey ? { ...(body as object), key: secrets['reporting'] } : body
    const answer = await harness.api(method, path, {
      headers: callers[caller](),
      ...(sent !== undefined && { body: sent }),
    })
    expect(answer.body).toMatchObject({ success: false, message })
  })
}

test.each([
  ['save the key: it is shown only once', 'POST /keys', { name: 'new' }],
  ['save the key: it is shown only once', 'POST /keys/good/rotate', {}],
  [
    'save the token: it is shown only once',
    'POST /shares',
    { deviceIds: ['tug'], expiresAt: IN_AN_HOUR },
  ],
  [
    'the password is changed',
    'POST /session/password',
    { current: PASSWORD, next: 'quite another long password' },
  ],
  ['the device and its records are gone from now on', 'DELETE /devices/tug', undefined],
])('"%s" is the response to a successful %s', async (message, call, body) => {
  const [method = '', path = ''] = call.split(' ')
  const answer = await harness.api(method, path, { headers, ...(body && { body }) })
  expect(answer.body).toMatchObject({ success: true, message })
})

test('a revoked link says that it shows nothing', async () => {
  const body = { deviceIds: ['barge'], expiresAt: IN_AN_HOUR }
  await harness.project({ deviceId: 'barge' })
  const share = await harness.api('POST', '/shares', { headers, body })
  const { body: answer } = await harness.api(
    'DELETE',
    `/shares/${String(share.body.data?.['id'])}`,
    {
      headers,
    },
  )
  expect(answer).toMatchObject({ message: 'the link no longer shows anything' })
})

test('after too many calls or failed sign-ins the message says when to retry', async () => {
  const limited = await startAdmin({ callLimit: { points: 1, seconds: 60 } })
  const session = await limited.createSession()
  const devices = () => limited.api('GET', '/devices', { headers: session })
  await devices()
  expect((await devices()).body).toMatchObject({
    error: 'RATE_LIMITED',
    message: expect.stringMatching(
      /^at most 1 calls in 60 s are allowed for one caller: try again in \d+ s$/,
    ) as unknown,
  })
  const body = { email: 'ana@example.org', password: 'wrong' }
  const signIn = () => limited.api('POST', '/session', { body })
  const answers = []
  for (let time = 0; time < 11; time += 1) answers.push((await signIn()).body)
  expect(answers.at(-1)).toMatchObject({
    error: 'RATE_LIMITED',
    message: expect.stringMatching(/^too many failed sign-ins: try again in \d+ s$/) as unknown,
  })
})
