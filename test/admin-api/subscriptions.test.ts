import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { sealedSecrets } from '../../runtime/process/sealed-secrets.ts'
import type { DeviceSubscription } from '../../schemas/subscriptions/subscription.ts'
import { eventually } from '../eventually.ts'
import type { ApiKey } from '../../store/keys.ts'
import type { Role } from '../../store/operators.ts'
import { adminForAllTests, bearer, type AdminHarness } from './admin-harness.ts'

let harness: AdminHarness
let headers: Record<string, string>
adminForAllTests((given) => ({ harness, headers } = given))
const ask = (method: string, path: string, body?: unknown) =>
  harness.api(method, path, { headers, ...(body !== undefined && { body }) })
const HOOK = {
  kind: 'webhook',
  url: 'https://hooks.example.org/s3cret-path?k=s3cret-query',
  headers: { Authorization: 'Bearer s3cret-header' },
  batch: 100,
}
const BOT = `1:${'x'.repeat(30)}`
const create = (fields: object = {}) =>
  ask('POST', '/subscriptions', { name: 'Office', source: 'facts', target: HOOK, ...fields })
const idOf = ({ body }: Awaited<ReturnType<typeof create>>) => String(body.data?.['id'])
const stored = async (id: string) => {
  const found = await harness.store.findSubscription({ accountId: 'acc-1', id })
  if (found === undefined) throw new Error('there is none')
  return found
}

test('a subscription is created, read, listed, changed and deleted, and each change is audited', async () => {
  const hours = { days: [1, 7], from: '22:00', to: '06:00', zone: 'Europe/Berlin' }
  const fields = { types: ['device.offline'], labels: ['vans'], hours, maxAgeSeconds: 60 }
  const answer = await create(fields)
  expect(answer.status).toBe(201)
  const target = { kind: 'webhook', url: 'https://hooks.example.org', batch: 100 }
  const { secret, ...made } = answer.body.data!
  expect(secret).toMatch(/^whsec_[\w+/]{43}=$/)
  expect(made).toMatchObject({ ...fields, target, state: 'active', everySeconds: 0, revision: 1 })
  const id = idOf(answer)
  expect((await ask('GET', `/subscriptions/${id}`)).body.data).toEqual(made)
  expect((await ask('GET', '/subscriptions')).body.data?.items).toContainEqual(made)
  const change = {
    everySeconds: 60,
    hours: null,
    target: { kind: 'slack', url: 'https://a.org/x' },
  }
  harness.clock.time += 1
  const changed = await ask('PATCH', `/subscriptions/${id}`, change)
  const expected = {
    everySeconds: 60,
    revision: 2,
    target: { kind: 'slack', url: 'https://a.org' },
  }
  expect(changed.body.data).toMatchObject(expected)
  expect(changed.body.data).not.toHaveProperty('hours')
  expect(await stored(id)).not.toHaveProperty('hours')
  harness.clock.time += 1
  expect((await ask('DELETE', `/subscriptions/${id}`)).status).toBe(200)
  const audit = await ask('GET', `/audit?subjectId=${id}`)
  expect(audit.body.data?.items?.map(({ action }) => action)).toEqual([
    'subscription.deleted',
    'subscription.changed',
    'subscription.created',
  ])
  const gone = await ask('GET', `/subscriptions/${id}`)
  expect([gone.status, gone.body.message]).toEqual([404, 'there is no notification with this id'])
})

test('no response, audit entry or log line contains a secret, a header, a token or the path of a URL', async () => {
  const bot = { kind: 'telegram', token: '12345:s3cret_token_of_a_bot_x', chatId: '-42' }
  const ids = [idOf(await create()), idOf(await create({ target: bot }))]
  for (const id of ids) {
    const answers = [
      await ask('GET', `/subscriptions/${id}`),
      await ask('PATCH', `/subscriptions/${id}`, { name: 'Other' }),
      await ask('POST', `/subscriptions/${id}/enable`),
      await ask('GET', `/audit?subjectId=${id}`),
    ]
    for (const { status, text } of answers) {
      expect(status).toBe(200)
      expect(text).not.toMatch(/s3cret|whsec/)
    }
    expect((await stored(id)).sealed).not.toContain('s3cret')
  }
  expect(harness.logged.join()).not.toMatch(/s3cret|whsec/)
})

test.each<[string, object, string, RegExp | string]>([
  ['another source', { source: 'x' }, 'source', 'source must be facts or positions'],
  [
    'this machine',
    { target: { ...HOOK, url: 'https://10.0.0.1/' } },
    'target.url',
    /WEBHOOK_ALLOW/,
  ],
  ['no TLS', { target: { ...HOOK, url: 'http://1.1.1.1/' } }, 'target.url', /https/],
  ['a user name', { target: { ...HOOK, url: 'https://a:b@x.org/' } }, 'target.url', /user name/],
  [
    'an own header',
    { target: { ...HOOK, headers: { 'Webhook-Id': 'x' } } },
    'target.headers',
    /Id/,
  ],
  ['a batch of one', { target: { ...HOOK, batch: 1 } }, 'target.batch', /2 to 500/],
  ['another kind', { target: { kind: 'fax' } }, 'target.kind', /webhook, ntfy/],
  ['another member', { target: { ...HOOK, token: 'x' } }, 'target', /takes kind, url/],
  [
    'a stranger',
    { target: { kind: 'email', to: ['eve@x.org'] } },
    'target.to',
    'target.to must be addresses of operators of this account',
  ],
  [
    'an unknown zone',
    { hours: { days: [1], from: '08:00', to: '09:00', zone: 'Mars/X' } },
    'hours.zone',
    'hours.zone must be the name of a time zone, such as Europe/Berlin',
  ],
  [
    'an unknown zone of times',
    { zone: 'Mars/X' },
    'zone',
    'zone must be the name of a time zone, such as Europe/Berlin',
  ],
  ...[0, 'general'].map((threadId): [string, object, string, string] => [
    `the topic ${threadId}`,
    { target: { kind: 'telegram', token: BOT, chatId: '-7', threadId } },
    'target.threadId',
    'target.threadId must be the number of a topic, a whole number from 1',
  ]),
  [
    'no hours',
    { hours: { days: [1], from: '08:00', to: '08:00', zone: 'UTC' } },
    'hours.to',
    'hours.to must be a time of day, HH:MM, other than from',
  ],
  [
    'hours as a list',
    { hours: [] },
    'hours',
    'hours must be an object with days, from, to and zone',
  ],
  [
    'another day',
    { hours: { days: [8], from: '08:00', to: '09:00', zone: 'UTC' } },
    'hours.days',
    'hours.days must be a list of different days, from 1 (Monday) to 7',
  ],
  [
    'another member of hours',
    { hours: { days: [1], from: '08:00', to: '09:00', zone: 'UTC', x: 1 } },
    'hours.x',
    'hours.x is unknown: hours takes days, from, to and zone',
  ],
  [
    'positions to a chat',
    { source: 'positions', target: { kind: 'slack', url: 'https://a.org/' } },
    'target.kind',
    'target.kind slack takes events; positions go to a webhook',
  ],
  [
    'positions by type',
    { source: 'positions', types: ['device.online'] },
    'types',
    'types is about events, not about positions',
  ],
  ['the mark of nothing', { start: 'somewhere' }, 'start', /mark/],
])('%s is rejected', async (_what, fields, field, message) => {
  const { status, body } = await create(fields)
  expect(status).toBe(400)
  expect(body.details?.map((one) => one.field)).toEqual([field])
  if (typeof message === 'string') expect(body.message).toBe(message)
  else expect(body.message).toMatch(message)
})

test('mails go to operators of the account', async () => {
  const { status, body } = await create({ target: { kind: 'email', to: ['ANA@example.org'] } })
  expect([status, body.data?.['secret']]).toEqual([201, undefined])
})

test('only dispatchers and admins see operators’ full addresses', async () => {
  const id = idOf(await create({ target: { kind: 'email', to: ['ana@example.org'] } }))
  const lastError = (address: string) => `${address} was refused: 550 <${address}> unknown`
  await harness.store.changeProgress({ accountId: 'acc-1', id }, (progress) => ({
    ...progress,
    lastError: lastError('ana@example.org'),
  }))
  const addresses = async (as: Record<string, string>) => {
    const one = await harness.api('GET', `/subscriptions/${id}`, { headers: as })
    const all = await harness.api('GET', '/subscriptions', { headers: as })
    const listed = (all.body.data?.items ?? []).find((item) => item['id'] === id)
    expect(listed?.['target']).toEqual(one.body.data?.['target'])
    const { to = [] } = one.body.data?.['target'] as { to?: string[] }
    expect([one, { body: { data: listed } }].map(({ body }) => body.data?.['lastError'])).toEqual(
      [to, to].map(([address = '']) => lastError(address)),
    )
    return to
  }
  const as = async (role: Role) =>
    harness.createSession((await harness.createOperator({ role })).id)
  const withKey = async (key: Partial<ApiKey>) => bearer((await harness.createKey(key)).secret)
  for (const caller of [headers, await as('dispatcher'), await withKey({})]) {
    expect(await addresses(caller)).toEqual(['ana@example.org'])
  }
  const scopes = ['devices:read'] as const
  const bound = { scopes, deviceIds: ['van'] }
  for (const caller of [await as('viewer'), await withKey({ scopes }), await withKey(bound)]) {
    expect(await addresses(caller)).toEqual(['a…@example.org'])
  }
})

test('a subscription starts where requested, and can be moved', async () => {
  const id = idOf(await create({ start: 'start' }))
  const { mark } = (await stored(id)).progress
  const moved = await ask('POST', `/subscriptions/${id}/rewind`, { to: mark })
  expect(moved.body.data?.['mark']).toBe(mark)
  const time = new Date(harness.clock.now() - 1).toISOString()
  expect((await ask('POST', `/subscriptions/${id}/rewind`, { to: time })).status).toBe(200)
  const refused = await ask('POST', `/subscriptions/${id}/rewind`, { to: '2999-01-01T00:00:00Z' })
  expect(refused.status).toBe(400)
})

test.each([
  ['a chat', { kind: 'slack', url: 'https://a.org/x' }, {}, 3_600],
  ['a webhook', HOOK, { maxAgeSeconds: 7_200 }, 7_200],
  ['a webhook without an age', HOOK, {}, undefined],
])('rewinding %s says from when items will be sent', async (_what, target, fields, seconds) => {
  const id = idOf(await create({ target, ...fields }))
  const rewound = async (to: string) =>
    (await ask('POST', `/subscriptions/${id}/rewind`, { to })).body.data?.['sendsSince']
  const ago = (ms: number) => new Date(harness.clock.now() - ms).toISOString()
  expect(await rewound('start')).toBe(seconds === undefined ? undefined : ago(seconds * 1_000))
  expect(await rewound(ago(60_000))).toBe(ago(60_000))
  expect(await rewound(ago(9_000_000))).toBe(ago(Math.min(9_000, seconds ?? Infinity) * 1_000))
  expect((await ask('GET', `/subscriptions/${id}`)).body.data).not.toHaveProperty('sendsSince')
})

test.each([7, '7'])(
  'the topic %j of a chat, and the time zone, are stored and returned',
  async (threadId) => {
    const target = { kind: 'telegram', token: BOT, chatId: '-7', threadId }
    const answer = await create({ target, zone: 'Asia/Tokyo' })
    expect(answer.body.data).toMatchObject({
      target: { kind: 'telegram', chatId: '-7', threadId: 7 },
      zone: 'Asia/Tokyo',
    })
    const changed = await ask('PATCH', `/subscriptions/${idOf(answer)}`, { zone: null })
    expect(changed.body.data?.['zone']).toBeUndefined()
  },
)

test('for a while the new and the previous secret both sign; chats have no secret', async () => {
  const made = await create()
  const id = idOf(made)
  const rotated = await ask('POST', `/subscriptions/${id}/rotate`, { graceSeconds: 60 })
  expect(rotated.body.data?.['secret']).toMatch(/^whsec_/)
  expect(rotated.body.data?.['secret']).not.toBe(made.body.data?.['secret'])
  const chat = idOf(await create({ target: { kind: 'slack', url: 'https://a.org/x' } }))
  const none = await ask('POST', `/subscriptions/${chat}/rotate`)
  expect([none.status, none.body.message]).toEqual([409, 'only webhooks are signed with a secret'])
})

test('secrets that another key encrypted are neither rotated nor kept under a new target: a 409 says what to do', async () => {
  const id = idOf(await create())
  await harness.store.changeSubscription({ accountId: 'acc-1', id }, (one) => ({
    ...one,
    sealed: sealedSecrets(randomBytes(32)).seal('{}', id),
  }))
  const calls = [
    await ask('POST', `/subscriptions/${id}/rotate`),
    await ask('PATCH', `/subscriptions/${id}`, { target: HOOK }),
  ]
  for (const { status, body } of calls) {
    expect([status, body.message]).toEqual([
      409,
      'the secrets cannot be read with this key: put back the SECRETS_KEY, or the file secrets.key, that encrypted them; or delete the notification and create it again',
    ])
  }
  expect((await ask('PATCH', `/subscriptions/${id}`, { name: 'Other' })).status).toBe(200)
  expect((await ask('DELETE', `/subscriptions/${id}`)).status).toBe(200)
})

test('a disabled subscription continues where it stopped when it is enabled', async () => {
  const id = idOf(await create())
  const { mark } = (await stored(id)).progress
  const failure = { failingSince: 1, lastError: 'status 410', disabledAt: 2 }
  await harness.store.changeSubscription({ accountId: 'acc-1', id }, (one) => ({
    ...one,
    progress: { ...one.progress, ...failure },
  }))
  const shown = await ask('GET', `/subscriptions/${id}`)
  expect(shown.body.data).toMatchObject({ state: 'disabled', lastError: 'status 410' })
  const enabled = await ask('POST', `/subscriptions/${id}/enable`)
  expect(enabled.body.data).toMatchObject({ state: 'active', mark })
  expect((await stored(id)).progress).not.toHaveProperty('failingSince')
})

test('the number of items waiting for a failing receiver is shown until the mark or the filters change', async () => {
  const id = idOf(await create())
  const { mark } = (await stored(id)).progress
  const wait = () =>
    harness.store.changeSubscription({ accountId: 'acc-1', id }, (one) => ({
      ...one,
      progress: { ...one.progress, failingSince: 1, waiting: { count: 312, more: false, mark } },
    }))
  await wait()
  const waiting = { count: 312, more: false }
  for (const path of [`/subscriptions/${id}`, '/subscriptions']) {
    const { data } = (await ask('GET', path)).body
    const shown = data?.items?.find((one) => one['id'] === id) ?? data
    expect(shown).toMatchObject({ state: 'failing', waiting })
  }
  const changes = [
    ['PATCH', `/subscriptions/${id}`, { types: ['device.offline'] }],
    ['POST', `/subscriptions/${id}/rewind`, { to: mark }],
  ] as const
  for (const [method, path, body] of changes) {
    await wait()
    const changed = await ask(method, path, body)
    expect(changed.status).toBe(200)
    expect(changed.body.data).not.toHaveProperty('waiting')
  }
  await wait()
  const enabled = await ask('POST', `/subscriptions/${id}/enable`)
  expect(enabled.body.data).toMatchObject({ waiting })
})

test('items to resend wait in order, at most as many as the largest delivery has', async () => {
  const id = idOf(await create())
  const ids = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => `item-${String(from + n).padStart(3, '0')}`)
  const resend = (from: number, count: number) =>
    ask('POST', `/subscriptions/${id}/resend`, { ids: ids(from, count) })
  expect((await resend(50, 60)).status).toBe(200)
  expect((await resend(10, 41)).status).toBe(200)
  expect((await stored(id)).progress.resend).toEqual(ids(10, 100))
  expect((await resend(110, 101)).status).toBe(400)
  for (const from of [110, 210, 310, 410]) expect((await resend(from, 100)).status).toBe(200)
  expect((await stored(id)).progress.resend).toEqual(ids(10, 500))
  const refused = await resend(510, 1)
  expect(refused.status).toBe(409)
  expect(refused.body.message).toMatch(/^at most 500 items wait to be sent again: try later/)
})

test('a test returns the receiver’s response to the deliverer', async () => {
  const id = idOf(await create())
  const asked = ask('POST', `/subscriptions/${id}/test`)
  const outcome = { status: 500, milliseconds: 12, answer: 'oh no' }
  const answer = (one: DeviceSubscription) => {
    const { test: asked, ...progress } = one.progress
    return asked && { ...one, progress: { ...progress, test: { ...asked, outcome } } }
  }
  const query = { accountId: 'acc-1', id }
  await eventually(
    async () => (await harness.store.changeSubscription(query, answer)) !== 'refused',
  )
  expect((await asked).body.data).toEqual(outcome)
})

test('an erased device is absent from receivers’ stored responses, even before it is removed', async () => {
  const id = idOf(await create())
  const [position] = await harness.project({ deviceId: 'echoed' })
  const delivery = { accountId: 'acc-1', subscriptionId: id, ids: ['item'], attempt: 1 }
  const made = { ...delivery, status: 200, milliseconds: 3, at: harness.clock.now() }
  const about = (number: number, ...deviceIds: string[]) =>
    harness.store.saveDelivery({ ...made, number, deviceIds, answer: `got ${deviceIds.join()}` })
  await about(1, 'other')
  await about(2, 'other', 'echoed')
  // In the form of an earlier version.
  await harness.store.saveDelivery({ ...made, number: 3, answer: 'got echoed' })
  const answers = async () => {
    const { body } = await ask('GET', `/subscriptions/${id}/deliveries`)
    return body.data?.items?.map(({ answer }) => answer)
  }
  expect(await answers()).toEqual(['', 'got other,echoed', 'got other'])
  expect(position).toBeDefined()
  expect((await ask('DELETE', '/devices/echoed')).status).toBe(202)
  expect(await answers()).toEqual(['', '', 'got other'])
})

test('deliveries are listed page by page, the newest first', async () => {
  const id = idOf(await create())
  for (const number of [1, 2, 3]) {
    await harness.store.saveDelivery({
      accountId: 'acc-1',
      subscriptionId: id,
      number,
      at: harness.clock.now(),
      ids: [`item-${number}`],
      attempt: 1,
      error: 'no such host',
      milliseconds: 3,
      answer: '',
    })
  }
  const path = `/subscriptions/${id}/deliveries?limit=2`
  const all = await harness.allPages(path, { headers })
  expect(all.map(({ ids }) => ids)).toEqual([['item-3'], ['item-2'], ['item-1']])
  expect(all[0]).toMatchObject({ attempt: 1, error: 'no such host', milliseconds: 3 })
})

describe('without the required variables', () => {
  let without: AdminHarness
  let own: Record<string, string>
  adminForAllTests(
    ({ harness: given, headers: session }) => {
      without = given
      own = session
    },
    { subscriptions: { secrets: undefined, hasMail: false } },
  )

  test('a subscription is rejected with the variable to set: no key is a 503, no mail server a 400', async () => {
    const post = (target: object) =>
      without.api('POST', '/subscriptions', {
        headers: own,
        body: { name: 'Office', source: 'facts', target },
      })
    const keyless = await post(HOOK)
    expect(keyless.status).toBe(503)
    expect(keyless.body.message).toBe(
      'notifications need a key to encrypt their secrets with: set SECRETS_KEY',
    )
    const mailless = await post({ kind: 'email', to: ['ana@example.org'] })
    expect(mailless.status).toBe(400)
    expect(mailless.body.message).toBe(
      'target.kind email needs a mail server: set SMTP_URL and SMTP_FROM',
    )
  })
})

describe('without a deliverer', () => {
  let alone: AdminHarness
  let own: Record<string, string>
  adminForAllTests(
    ({ harness: given, headers: session }) => {
      alone = given
      own = session
    },
    { subscriptions: { testWithinMs: 1 } },
  )

  test('a test is a 503 that asks for it', async () => {
    const body = { name: 'Office', source: 'facts', target: HOOK }
    const made = await alone.api('POST', '/subscriptions', { headers: own, body })
    const path = `/subscriptions/${String(made.body.data?.['id'])}/test`
    const answer = await alone.api('POST', path, { headers: own })
    expect(answer.status).toBe(503)
    expect(answer.body.message).toBe('the test was not sent in time: is the deliverer running?')
  })
})
