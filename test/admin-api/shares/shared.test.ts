import { expect, test } from '@jest/globals'
import { newShareToken } from '../../../schemas/access/random-secrets.ts'
import {
  DAY,
  harness,
  headers,
  iso,
  MINUTE,
  newToken,
  shared,
  startWithDevices,
} from './shares-harness.ts'

test('a share shows name, position and time of its devices, and no ids', async () => {
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
        place: null,
        speed: 3,
        heading: 0,
      },
      {
        ref: expect.any(String),
        name: 'The ferry',
        latitude: 5,
        longitude: 6,
        timestamp: iso(-2 * MINUTE),
        place: { name: 'Amassoma', country: 'NG', distanceMetres: expect.any(Number) },
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

test('a share offers maps from other servers only if it was created to show streets', async () => {
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

test('an expired, revoked or unknown share, and one of a suspended account, is the same 404', async () => {
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

test('an erased device leaves its shares permanently, even if it reports again', async () => {
  await startWithDevices()
  const token = await newToken()
  expect((await shared(token)).body.data?.items).toHaveLength(2)
  expect((await harness.api('DELETE', '/devices/tug', { headers })).status).toBe(202)
  expect((await shared(token)).body.data?.items).toMatchObject([{ name: 'Device 1', latitude: 5 }])
  const { items } = (await harness.api('GET', '/shares', { headers })).body.data ?? {}
  expect(items?.[0]).toMatchObject({ deviceIds: ['ferry'] })
})

test('an address that keeps sending unknown tokens is rejected, except with a valid one', async () => {
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

test('an address may request a share as often as a key may call', async () => {
  await startWithDevices({ callLimit: { points: 3, seconds: 60 } })
  const [one, other] = [await newToken(), await newToken()]
  const statuses = []
  for (const token of [one, other, one, other]) statuses.push((await shared(token)).status)
  expect(statuses).toEqual([200, 200, 200, 429])
})
