import { beforeAll, expect, test } from '@jest/globals'
import { newApiKey } from '../../../schemas/access/api-key.ts'
import { T0 } from '../../samples.ts'
import {
  create,
  DAY,
  harness,
  headers,
  iso,
  shared,
  startWithDevices,
  usual,
} from './shares-harness.ts'

beforeAll(() => startWithDevices())

test('creating a share shows the token once and stores only its hash', async () => {
  const answer = await create({ ...usual(), trailMinutes: 30 })
  expect(answer.status).toBe(201)
  const { token, ...view } = answer.body.data ?? {}
  expect(token).toMatch(/^gpsshare_[\w-]{43}$/)
  expect(view).toEqual({
    id: expect.stringMatching(/^[0-9A-Z]{26}$/),
    name: 'Ferries',
    status: 'active',
    deviceIds: ['tug', 'ferry'],
    trailMinutes: 30,
    names: {},
    showsNow: true,
    showsStreets: false,
    createdAt: iso(0),
    expiresAt: iso(DAY),
  })
  const list = await harness.api('GET', '/shares', { headers })
  expect(list.body.data?.items?.[0]).toEqual(view)
  const audit = await harness.api('GET', '/audit', { headers })
  expect(audit.body.data?.items?.[0]).toMatchObject({
    action: 'share.created',
    subject: { kind: 'share', id: view['id'] },
    details: {
      name: 'Ferries',
      deviceIds: ['tug', 'ferry'],
      trailMinutes: 30,
      showsNow: true,
      showsStreets: false,
      expiresAt: iso(DAY),
    },
  })
  for (const text of [list.text, audit.text, harness.logged.join('')]) {
    expect(text).not.toContain(String(token).slice(9))
  }
})

test('revoking a share ends it and is audited once', async () => {
  const { body } = await create(usual())
  const path = `/shares/${String(body.data?.['id'])}`
  const token = body.data?.['token'] as string
  expect((await shared(token)).status).toBe(200)
  expect((await harness.api('DELETE', path, { headers })).status).toBe(200)
  expect((await shared(token)).status).toBe(404)
  expect((await harness.api('DELETE', path, { headers })).status).toBe(404)
  const audit = await harness.api('GET', '/audit', { headers })
  const entries = (audit.body.data?.items ?? []).filter(({ action }) => action === 'share.revoked')
  expect(entries.map(({ details }) => details)).toEqual([{ name: usual().name }])
})

test.each([
  ['name', { name: ' x' }],
  ['name', { name: newApiKey() }],
  ['names', { names: { other: 'Not shared' } }],
  ['names', { names: ['The tug'] }],
  ['names.tug', { names: { tug: ' x' } }],
  ['names.tug', { names: { tug: newApiKey() } }],
  ['names.tug', { names: { tug: null } }],
  ['names[""]', { names: { '': 7 } }],
  ['deviceIds', { deviceIds: ['tug', 'Tug'] }],
  ['deviceIds', { deviceIds: ['t*'] }],
  ['expiresAt', { expiresAt: new Date(T0).toISOString() }],
  ['expiresAt', { expiresAt: new Date(T0 + 3_600_001 + 30 * DAY).toISOString() }],
])('creating a share is rejected for an invalid %s: %j', async (field, fields) => {
  const answer = await create({ ...usual(), ...fields })
  expect(answer.status).toBe(400)
  expect(answer.body.details?.map((fault) => fault.field)).toEqual([field])
})

test('the list of shares continues after a share revoked meanwhile', async () => {
  for (let made = 0; made < 3; made += 1) await create(usual())
  const page = async (cursor = '') => {
    const answer = await harness.api('GET', `/shares?limit=1${cursor}`, { headers })
    return { id: answer.body.data?.items?.[0]?.['id'], next: answer.body.data?.nextCursor }
  }
  const first = await page()
  const next = `&cursor=${first.next ?? ''}`
  const second = await page(next)
  await harness.api('DELETE', `/shares/${String(first.id)}`, { headers })
  expect(second.id).toBeDefined()
  expect(await page(next)).toEqual(second)
})

test('a share may last 30 days', async () => {
  expect((await create({ ...usual(), expiresAt: iso(30 * DAY) })).status).toBe(201)
})
