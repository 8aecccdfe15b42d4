import { beforeAll, describe, expect, test } from '@jest/globals'
import { newApiKey } from '../../../schemas/api-key.ts'
import { newShareToken } from '../../../schemas/share-token.ts'
import { T0 } from '../../samples.ts'
import { bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

let harness: AdminHarness
let headers: Record<string, string>

const iso = (afterMs: number) => new Date(harness.clock.now() + afterMs).toISOString()
const create = (body: object) => harness.api('POST', '/shares', { headers, body })
const usual = () => ({ name: 'Ferries', deviceIds: ['tug', 'ferry'], expiresAt: iso(DAY) })
const shared = (token: string, from = '192.0.2.1') => {
  const place = { 'X-Forwarded-For': from }
  return harness.api('GET', '/shared', { headers: { ...bearer(token), ...place } })
}

/** The token of a share made before its devices reported, or `agoMs` ago. */
async function newToken(body: object = {}, agoMs = 5 * MINUTE): Promise<string> {
  const wanted = { ...usual(), ...body }
  harness.clock.time -= agoMs
  const { data } = (await create(wanted)).body
  harness.clock.time += agoMs
  return data?.['token'] as string
}

async function startWithDevices(options: Parameters<typeof startAdmin>[0] = {}) {
  harness = await startAdmin(options)
  headers = await harness.createSession()
  const now = harness.clock.now()
  const at = (ms: number) => ({ timestamp: now - ms, receivedAt: now - ms })
  await harness.project(
    {
      deviceId: 'tug',
      ...at(MINUTE),
      latitude: 1,
      longitude: 2,
      speed: 3,
      heading: 0,
      attributes: { alarm: 'sos' },
    },
    { deviceId: 'ferry', ...at(2 * MINUTE), latitude: 5, longitude: 6, accuracy: 7, battery: 1 },
    { deviceId: 'other', ...at(0) },
  )
}

describe('making shares', () => {
  beforeAll(() => startWithDevices())

  test('making a share shows the token this once and stores only its hash', async () => {
    const answer = await create({ ...usual(), trailMinutes: 30 })
    expect(answer.status).toBe(201)
    const { token, ...view } = answer.body.data ?? {}
    expect(token).toMatch(/^gpsshare_[\w-]{43}$/)
    expect(view).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      ...{ name: 'Ferries', status: 'active', deviceIds: ['tug', 'ferry'], trailMinutes: 30 },
      ...{ names: {}, createdAt: iso(0), expiresAt: iso(DAY) },
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
        expiresAt: iso(DAY),
      },
    })
    for (const text of [list.text, audit.text, harness.logged.join('')]) {
      expect(text).not.toContain(String(token).slice(9))
    }
  })

  test('revoking one ends it, once, and stands in the audit', async () => {
    const { body } = await create(usual())
    const path = `/shares/${String(body.data?.['id'])}`
    const token = body.data?.['token'] as string
    expect((await shared(token)).status).toBe(200)
    expect((await harness.api('DELETE', path, { headers })).status).toBe(200)
    expect((await shared(token)).status).toBe(404)
    expect((await harness.api('DELETE', path, { headers })).status).toBe(404)
    const audit = await harness.api('GET', '/audit', { headers })
    const entries = (audit.body.data?.items ?? []).filter(
      ({ action }) => action === 'share.revoked',
    )
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
    ['deviceIds', { deviceIds: ['tug', 'Tug'] }],
    ['deviceIds', { deviceIds: ['t*'] }],
    ['deviceIds', { deviceIds: Array.from({ length: 51 }, (_, n) => `d-${n}`) }],
    ['expiresAt', { expiresAt: new Date(T0).toISOString() }],
    ['expiresAt', { expiresAt: new Date(T0 + 3_600_001 + 30 * DAY).toISOString() }],
    ['trailMinutes', { trailMinutes: 1_441 }],
  ])('making a share refuses a fault in %s: %j', async (field, fields) => {
    const answer = await create({ ...usual(), ...fields })
    expect(answer.status).toBe(400)
    expect(answer.body.details?.map((fault) => fault.field)).toEqual([field])
  })

  test('the list goes on where a share was that is revoked meanwhile', async () => {
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
})

describe('what a share shows', () => {
  test('a share shows name, place and time of its devices, and no ids', async () => {
    await startWithDevices()
    const body = { name: 'The ferry' }
    await harness.api('PATCH', '/devices/ferry', { headers, body })
    const token = await newToken()
    const answer = await shared(token)
    expect(answer.body.data).toEqual({
      ...{ name: 'Ferries', expiresAt: iso(DAY), trailMinutes: 0, asOf: iso(0) },
      items: [
        {
          ...{ ref: expect.any(String), name: 'Device 1', latitude: 1, longitude: 2 },
          ...{ timestamp: iso(-MINUTE), speed: 3, heading: 0 },
        },
        {
          ...{ ref: expect.any(String), name: 'The ferry', latitude: 5, longitude: 6 },
          timestamp: iso(-2 * MINUTE),
        },
      ],
      maps: [],
    })
    expect(answer.text).not.toMatch(/tug|"ferry"|acc-1|recordId|op-1|ana@/)
    const refs = (answer.body.data?.items ?? []).map(({ ref }) => ref)
    const others = ((await shared(await newToken())).body.data?.items ?? []).map(({ ref }) => ref)
    expect(new Set([...refs, ...others]).size).toBe(4)
  })

  test('a share shows the name that the link has for a device, whatever its own is', async () => {
    await startWithDevices()
    await harness.api('PATCH', '/devices/ferry', { headers, body: { name: 'F-7' } })
    const names = { ferry: 'Your ferry' }
    const token = await newToken({ names })
    const { items } = (await shared(token)).body.data ?? {}
    expect(items?.map(({ name }) => name)).toEqual(['Device 1', 'Your ferry'])
    const list = await harness.api('GET', '/shares', { headers })
    expect(list.body.data?.items?.[0]).toMatchObject({ name: 'Ferries', names })
  })

  test('a share that was made without a name shows those of its devices as its own', async () => {
    await startWithDevices()
    const title = async (body: object) => {
      const token = await newToken({ name: null, ...body })
      const name = (await shared(token)).body.data?.['name']
      const list = await harness.api('GET', '/shares', { headers })
      expect(list.body.data?.items?.map((share) => share['name'])).toContain(name)
      return name
    }
    const [one, two, three] = [['tug'], ['tug', 'ferry'], ['tug', 'ferry', 'other']]
    expect(await title({ deviceIds: one })).toBe('Device 1')
    await harness.api('PATCH', '/devices/ferry', { headers, body: { name: 'The ferry' } })
    const names = { tug: 'The tug' }
    expect(await title({ deviceIds: two, names })).toBe('The tug and The ferry')
    expect(await title({ deviceIds: three })).toBe('Device 1, The ferry and Device 3')
    await harness.project({ deviceId: 'buoy', timestamp: T0, receivedAt: T0 })
    const four = [...three, 'buoy']
    expect(await title({ deviceIds: four })).toBe('Device 1, The ferry and 2 more')
  })

  test('no longer has the name of an erased device in its own', async () => {
    await startWithDevices()
    const token = await newToken({ name: null, names: { tug: 'The tug', ferry: 'The ferry' } })
    await harness.api('DELETE', '/devices/tug', { headers })
    expect((await shared(token)).body.data).toMatchObject({ name: 'The ferry' })
    const list = await harness.api('GET', '/shares', { headers })
    expect(list.body.data?.items?.[0]).toMatchObject({
      name: 'The ferry',
      names: { ferry: 'The ferry' },
    })
    expect(list.text).not.toContain('The tug')
  })

  test('a share shows no place from before it was made', async () => {
    await startWithDevices()
    const token = await newToken({}, MINUTE)
    const { items } = (await shared(token)).body.data ?? {}
    expect(items).toMatchObject([{ name: 'Device 1', timestamp: iso(-MINUTE) }])
  })

  test('a share has a trail of so many minutes, and nothing from before it was made', async () => {
    await startWithDevices()
    const token = await newToken({ trailMinutes: 2, deviceIds: ['tug'] }, 0)
    const trail = async () => {
      const [item] = (await shared(token)).body.data?.items ?? []
      return (item?.['trail'] as { timestamp: string }[]).map(({ timestamp }) => timestamp)
    }
    expect((await shared(token)).body.data?.items).toEqual([])
    const begun = harness.clock.now()
    const times = [-1, 0, 60_000, 120_000, 180_000].map((ms) => begun + ms)
    harness.clock.time += 180_000
    for (const timestamp of times) {
      await harness.project({ deviceId: 'tug', timestamp, receivedAt: harness.clock.now() })
    }
    // Viewers get the same answer for a moment.
    const again = await newToken({ trailMinutes: 2, deviceIds: ['tug'] }, 0)
    expect((await shared(again)).body.data?.items).toMatchObject([{ trail: [{}] }])
    await new Promise((resolve) => setTimeout(resolve, 2_100))
    expect(await trail()).toEqual(times.slice(2).map((time) => new Date(time).toISOString()))
  })

  test('a share is one and the same 404 once it is expired, revoked, unknown, or the account suspended', async () => {
    await startWithDevices()
    const token = await newToken({ expiresAt: iso(MINUTE) })
    const answers = [await shared(newShareToken()), await shared('gpsshare_x')]
    harness.clock.time += MINUTE - 1
    expect((await shared(token)).status).toBe(200)
    harness.clock.time += 1
    answers.push(await shared(token))
    const other = await newToken()
    await harness.store.suspendAccount({ accountId: 'acc-1', suspended: true })
    answers.push(await shared(other))
    for (const { status, text } of answers) {
      expect(status).toBe(404)
      expect(text).toBe(answers[0]?.text)
    }
  })

  test('a share loses an erased device for good, also when it reports anew', async () => {
    await startWithDevices()
    const token = await newToken()
    expect((await shared(token)).body.data?.items).toHaveLength(2)
    expect((await harness.api('DELETE', '/devices/tug', { headers })).status).toBe(202)
    expect((await shared(token)).body.data?.items).toMatchObject([
      { name: 'Device 1', latitude: 5 },
    ])
    const { items } = (await harness.api('GET', '/shares', { headers })).body.data ?? {}
    expect(items?.[0]).toMatchObject({ deviceIds: ['ferry'] })
  })

  test('an address that sends unknown tokens all the time is refused, except with a good one', async () => {
    await startWithDevices({ authLimit: { points: 3, seconds: 60 } })
    const [known, fresh] = [await newToken(), await newToken()]
    expect((await shared(known)).status).toBe(200)
    const statuses = []
    for (let n = 0; n < 4; n += 1) statuses.push((await shared(newShareToken())).status)
    expect(statuses).toEqual([404, 404, 404, 429])
    const refused = await shared(fresh)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await shared(known)).status).toBe(200)
  })

  test('an IPv6 address is counted by its first 64 bits, for unknown tokens and for calls', async () => {
    const limit = { points: 3, seconds: 60 }
    await startWithDevices({ trustProxy: 1, authLimit: limit })
    const from = (host: number) => `2001:db8:1:2::${host}`
    const statuses = []
    for (let n = 0; n < 4; n += 1) statuses.push((await shared(newShareToken(), from(n))).status)
    expect(statuses).toEqual([404, 404, 404, 429])
    expect((await shared(newShareToken(), '2001:db8:1:3::1')).status).toBe(404)
    await startWithDevices({ trustProxy: 1, callLimit: limit })
    const token = await newToken()
    for (let n = 0; n < 3; n += 1) expect((await shared(token, from(n))).status).toBe(200)
    expect((await shared(token, from(9))).status).toBe(429)
  })

  test('an address may ask for a share as often as a key may call', async () => {
    await startWithDevices({ callLimit: { points: 3, seconds: 60 } })
    const [one, other] = [await newToken(), await newToken()]
    const statuses = []
    for (const token of [one, other, one, other]) statuses.push((await shared(token)).status)
    expect(statuses).toEqual([200, 200, 200, 429])
  })
})
