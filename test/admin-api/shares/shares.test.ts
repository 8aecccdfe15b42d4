import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { newApiKey } from '../../../schemas/api-key.ts'
import { newShareToken } from '../../../schemas/share-token.ts'
import { eventually } from '../../eventually.ts'
import { fakeTimers } from '../../fake-timers.ts'
import { T0 } from '../../samples.ts'
import { bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

let harness: AdminHarness
let headers: Record<string, string>

afterEach(() => void jest.useRealTimers())

const iso = (afterMs: number) => new Date(harness.clock.now() + afterMs).toISOString()
const create = (body: object) => harness.api('POST', '/shares', { headers, body })
const usual = () => ({ name: 'Ferries', deviceIds: ['tug', 'ferry'], expiresAt: iso(DAY) })
const shared = (token: string, from = '192.0.2.1') => {
  const place = { 'X-Forwarded-For': from }
  return harness.api('GET', '/shared', { headers: { ...bearer(token), ...place } })
}

/** Viewers of a share get the same answer for a moment: a test that reads twice makes two. */
const itemsOf = async (token: string) => (await shared(token)).body.data?.items

/** The token of a share made before its devices reported, or `agoMs` ago. */
async function newToken(body: object = {}, agoMs = 5 * MINUTE): Promise<string> {
  const wanted = { ...usual(), ...body }
  harness.clock.time -= agoMs
  const { data } = (await create(wanted)).body
  harness.clock.time += agoMs
  return data?.['token'] as string
}

/** The times of a report, so long before or after now. */
function received(ms: number): { timestamp: number; receivedAt: number } {
  const time = harness.clock.now() + ms
  return { timestamp: time, receivedAt: time }
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
    ['names[""]', { names: { '': 7 } }],
    ['deviceIds', { deviceIds: ['tug', 'Tug'] }],
    ['deviceIds', { deviceIds: ['t*'] }],
    ['deviceIds', { deviceIds: Array.from({ length: 51 }, (_, n) => `d-${n}`) }],
    ['expiresAt', { expiresAt: new Date(T0).toISOString() }],
    ['expiresAt', { expiresAt: new Date(T0 + 3_600_001 + 30 * DAY).toISOString() }],
    ['trailMinutes', { trailMinutes: 1_441 }],
    ['showsNow', { showsNow: 'yes' }],
    ['showsStreets', { showsStreets: 1 }],
  ])('making a share refuses a fault in %s: %j', async (field, fields) => {
    const answer = await create({ ...usual(), ...fields })
    expect(answer.status).toBe(400)
    expect(answer.body.details?.map((fault) => fault.field)).toEqual([field])
  })

  test('the list of shares continues after one that was revoked meanwhile', async () => {
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

describe('contents of a share', () => {
  test('a share shows name, place and time of its devices, and no ids', async () => {
    await startWithDevices()
    const body = { name: 'The ferry' }
    await harness.api('PATCH', '/devices/ferry', { headers, body })
    const token = await newToken()
    const answer = await shared(token)
    expect(answer.body.data).toEqual({
      name: 'Ferries',
      expiresAt: iso(DAY),
      trailMinutes: 0,
      asOf: iso(0),
      items: [
        {
          ref: expect.any(String),
          name: 'Device 1',
          latitude: 1,
          longitude: 2,
          timestamp: iso(-MINUTE),
          speed: 3,
          heading: 0,
        },
        {
          ref: expect.any(String),
          name: 'The ferry',
          latitude: 5,
          longitude: 6,
          timestamp: iso(-2 * MINUTE),
        },
      ],
      showsStreets: false,
      maps: [],
    })
    expect(answer.text).not.toMatch(/tug|"ferry"|acc-1|recordId|op-1|ana@/)
    const refs = (answer.body.data?.items ?? []).map(({ ref }) => ref)
    const others = ((await shared(await newToken())).body.data?.items ?? []).map(({ ref }) => ref)
    expect(new Set([...refs, ...others]).size).toBe(4)
  })

  test('a share shows the link’s name for a device, not the device’s own', async () => {
    await startWithDevices()
    await harness.api('PATCH', '/devices/ferry', { headers, body: { name: 'F-7' } })
    const names = { ferry: 'Your ferry' }
    const token = await newToken({ names })
    const { items } = (await shared(token)).body.data ?? {}
    expect(items?.map(({ name }) => name)).toEqual(['Device 1', 'Your ferry'])
    const list = await harness.api('GET', '/shares', { headers })
    expect(list.body.data?.items?.[0]).toMatchObject({ name: 'Ferries', names })
  })

  test('a link has a name for a device that is called as a property of every object', async () => {
    const deviceIds = ['__proto__', 'constructor', 'toString']
    await startWithDevices()
    for (const deviceId of deviceIds) await harness.project({ deviceId })
    for (const named of ['__proto__', 'constructor']) {
      const names = JSON.parse(`{"${named}":"Your van"}`) as object
      // Links of the same moment are in no order.
      harness.clock.time += 1
      const token = await newToken({ deviceIds, names })
      const shown = deviceIds.map((id, n) => (id === named ? 'Your van' : `Device ${n + 1}`))
      expect((await shared(token)).body.data?.items?.map(({ name }) => name)).toEqual(shown)
      const list = await harness.api('GET', '/shares', { headers })
      expect(JSON.stringify(list.body.data?.items?.[0]?.['names'])).toBe(JSON.stringify(names))
    }
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

  test('the list of shares reads only the devices that a title may name', async () => {
    const read: string[] = []
    await startWithDevices({
      wrapStore: (store) => ({
        ...store,
        findDevices(query) {
          read.push(...query.deviceIds)
          return store.findDevices(query)
        },
      }),
    })
    const deviceIds = Array.from({ length: 50 }, (_, n) => `boat-${n}`)
    await harness.project({ deviceId: 'boat-0' }, ...deviceIds.map((deviceId) => ({ deviceId })))
    await newToken({ name: null, deviceIds })
    await newToken({ name: 'Fleet', deviceIds: deviceIds.toReversed() }, 4 * MINUTE)
    read.length = 0
    const { body } = await harness.api('GET', '/shares', { headers })
    const names = body.data?.items?.map((share) => share['name'])
    expect(names).toEqual(['Fleet', 'Device 1, Device 2 and 48 more'])
    expect(read).toEqual(['boat-0', 'boat-1', 'boat-2'])
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

  test('a share without the place of now shows no place from before it was made', async () => {
    await startWithDevices()
    const token = await newToken({ showsNow: false }, MINUTE)
    const { items } = (await shared(token)).body.data ?? {}
    expect(items).toMatchObject([{ name: 'Device 1', timestamp: iso(-MINUTE) }])
    const list = await harness.api('GET', '/shares', { headers })
    expect(list.body.data?.items?.[0]).toMatchObject({ showsNow: false })
  })

  test('a share opens with one last known position, and no trail from before', async () => {
    await startWithDevices()
    await harness.project({ deviceId: 'tug', ...received(-MINUTE / 2), latitude: 3 })
    const body = { deviceIds: ['tug'], trailMinutes: 1_440 }
    const [first, second] = [await newToken(body, 0), await newToken(body, 0)]
    expect(await itemsOf(first)).toMatchObject([
      { name: 'Device 1', latitude: 3, timestamp: iso(-MINUTE / 2), trail: [] },
    ])
    const known = await shared(await newToken({ deviceIds: ['tug'] }, 0))
    expect(known.body.data?.items?.[0]).not.toHaveProperty('trail')
    expect(known.text).not.toMatch(/recordId|lastKnown/)
    harness.clock.time += MINUTE
    await harness.project({ deviceId: 'tug', ...received(0), latitude: 4 })
    expect(await itemsOf(second)).toMatchObject([{ latitude: 4, trail: [{ latitude: 4 }] }])
  })

  test('late reports never add a second last known position to a share', async () => {
    await startWithDevices()
    const body = { deviceIds: ['tug'], trailMinutes: 1_440, names: { tug: 'Tug' } }
    const [first, second] = [await newToken(body, 0), await newToken(body, 0)]
    const empty = await newToken({ ...body, showsNow: false }, 0)
    const place = { name: 'Tug', latitude: 1, timestamp: iso(-MINUTE), trail: [] }
    expect(await itemsOf(first)).toMatchObject([place])
    const begun = harness.clock.now()
    harness.clock.time += 5 * MINUTE
    // A tracker that was out of reach sends what it kept.
    for (const ago of [0.75, 0.5, 0.25]) {
      const timestamp = begun - ago * MINUTE
      await harness.project({ deviceId: 'tug', timestamp, receivedAt: harness.clock.now() })
    }
    // The projector had not come to it when the share was made.
    await harness.project({ deviceId: 'tug', timestamp: begun - 1, receivedAt: begun - 1 })
    harness.clock.time = begun
    expect(await itemsOf(second)).toMatchObject([place])
    expect(await itemsOf(empty)).toEqual([])
  })

  test('a share shows nothing received before it was made, although its tracker’s clock is ahead', async () => {
    await startWithDevices()
    const ahead = (ms: number, minutes = 100) => {
      const receivedAt = harness.clock.now() + ms
      return { deviceId: 'tug', receivedAt, timestamp: receivedAt + minutes * MINUTE }
    }
    for (let n = 100; n > 0; n -= 1) await harness.project({ ...ahead(-n * MINUTE), latitude: n })
    const body = { deviceIds: ['tug'], trailMinutes: 1_440 }
    const since = { ...body, showsNow: false }
    const tokens = []
    for (const one of [body, since, body, since]) tokens.push(await newToken(one, 0))
    const [now = '', empty = '', ...later] = tokens
    expect(await itemsOf(now)).toMatchObject([{ latitude: 1, trail: [] }])
    expect(await itemsOf(empty)).toEqual([])
    harness.clock.time += MINUTE
    const timestamp = new Date(harness.clock.now() + 100 * MINUTE).toISOString()
    await harness.project({ ...ahead(0), latitude: 50 })
    const seen = [{ latitude: 50, timestamp, trail: [{ latitude: 50, timestamp }] }]
    for (const token of later) expect(await itemsOf(token)).toMatchObject(seen)
  })

  test('a trail is found behind many places that the share does not show', async () => {
    await startWithDevices()
    const token = await newToken({ deviceIds: ['tug'], trailMinutes: 60, showsNow: false }, 0)
    const begun = harness.clock.now()
    harness.clock.time += 60 * MINUTE
    await harness.project({ deviceId: 'tug', ...received(0), latitude: 50 })
    const early = Array.from({ length: 2_500 }, (_, n) => ({
      deviceId: 'tug',
      receivedAt: begun - 1,
      timestamp: begun + 61 * MINUTE + n,
    }))
    await harness.project(early[0] ?? {}, ...early.slice(1))
    expect(await itemsOf(token)).toMatchObject([{ latitude: 50, trail: [{ latitude: 50 }] }])
  })

  test('a share has a trail of its minutes, and nothing from before its creation', async () => {
    fakeTimers('performance')
    await startWithDevices()
    const body = { trailMinutes: 2, deviceIds: ['tug'], showsNow: false }
    const token = await newToken(body, 0)
    const items = async () => (await shared(token)).body.data?.items
    expect(await items()).toEqual([])
    const begun = harness.clock.now()
    const times = [-1, 0, 60_000, 120_000, 180_000].map((ms) => begun + ms)
    harness.clock.time += 180_000
    for (const timestamp of times) {
      await harness.project({ deviceId: 'tug', timestamp, receivedAt: harness.clock.now() })
    }
    // Viewers get the same answer for a moment.
    const again = await newToken(body, 0)
    expect((await shared(again)).body.data?.items).toMatchObject([{ trail: [{}] }])
    expect(await items()).toEqual([])
    jest.advanceTimersByTime(2_100)
    await eventually(async () => (await items())?.length === 1)
    const trail = times.slice(2).map((time) => ({ timestamp: new Date(time).toISOString() }))
    expect(await items()).toMatchObject([{ trail }])
  })

  test('a trail leaves out a single place that a receiver without a fix reports', async () => {
    await startWithDevices()
    const token = await newToken({ deviceIds: ['tug'], trailMinutes: 60, showsNow: false }, 0)
    const begun = harness.clock.now()
    harness.clock.time += 10 * MINUTE
    for (const [n, latitude] of [50, 50.001, 0, 50.002, 50.003].entries()) {
      const at = begun + (n + 1) * MINUTE
      await harness.project({ deviceId: 'tug', timestamp: at, receivedAt: at, latitude })
    }
    const trail = [50, 50.001, 50.002, 50.003].map((latitude) => ({ latitude }))
    expect(await itemsOf(token)).toMatchObject([{ latitude: 50.003, trail }])
  })

  test('a share offers maps that others see only if it was made to show streets', async () => {
    const tiles = { kind: 'tiles', url: 'https://tiles.example.com/{z}/{x}/{y}.png' } as const
    const [own, streets] = [
      { name: 'Own', ...tiles },
      { name: 'Streets', ...tiles, seenBy: 'Others' },
    ]
    await startWithDevices({ maps: [own, streets] })
    const offered = async (body: object) => {
      const { data } = (await shared(await newToken(body))).body
      const maps = data?.['maps'] as { name: string }[]
      return { showsStreets: data?.['showsStreets'], maps: maps.map(({ name }) => name) }
    }
    const without = { showsStreets: false, maps: ['Own'] }
    expect(await offered({})).toEqual(without)
    expect(await offered({ showsStreets: false })).toEqual(without)
    const all = { showsStreets: true, maps: ['Own', 'Streets'] }
    expect(await offered({ showsStreets: true })).toEqual(all)
    const list = await harness.api('GET', '/shares', { headers })
    const views = (list.body.data?.items ?? []).map((one) => one['showsStreets'])
    expect(views.sort()).toEqual([false, false, true])
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

  test('an erased device leaves its shares for good, even if it reports again', async () => {
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
