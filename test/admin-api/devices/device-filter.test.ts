import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { PositionReported } from '../../../schemas/events/position-reported.ts'
import type { DeviceQuery } from '../../../store/read-models.ts'
import type { Store } from '../../../store/store.ts'
import { T0 } from '../../samples.ts'
import { bearer, startAdmin, type AdminHarness } from '../admin-harness.ts'

const NOW = T0 + 3_600_000
const MINUTE = 60_000

let harness: AdminHarness
let headers: Record<string, string>
let pages: DeviceQuery[] = []

function wrapStore(store: Store): Store {
  return {
    ...store,
    async placeDevices(query) {
      pages.push(query)
      return store.placeDevices(query)
    },
  }
}

/** Devices of a harbour, with the minutes since each last reported. */
const FLEET = [
  { deviceId: 'a-tug', minutes: 1, latitude: 45.6, longitude: 13.7 },
  { deviceId: 'b-TUG', minutes: 6, latitude: 45.7, longitude: 13.6 },
  { deviceId: 'c-ferry', minutes: 5, latitude: 45, longitude: 13.5, speed: 9.5 },
  { deviceId: 'd-slow', minutes: 90, latitude: -17, longitude: 179.5, speed: 0.25 },
  { deviceId: 'e-fast', minutes: 2, latitude: -18, longitude: -179.5 },
  { deviceId: 'f-lost', minutes: 61, latitude: 90, longitude: 0 },
] as const

beforeAll(async () => {
  harness = await startAdmin({ wrapStore })
  headers = bearer((await harness.createKey()).secret)
  const changes = FLEET.map(({ minutes, ...place }) => {
    const at = NOW - minutes * MINUTE
    return { ...place, timestamp: at, receivedAt: at }
  })
  await harness.project(...(changes as [Partial<PositionReported>]))
  await harness.project({ deviceId: 'a-tug of acc-2', accountId: 'acc-2', receivedAt: NOW })
  const settings: [string, object][] = [
    ['a-tug', { name: 'Čigra' }],
    ['c-ferry', { name: 'STRAßE €5', labels: ['harbour'] }],
    ['d-slow', { expectedIntervalSeconds: 3600 }],
    ['e-fast', { expectedIntervalSeconds: 10, disabled: true }],
  ]
  for (const [deviceId, body] of settings) {
    await harness.api('PATCH', `/devices/${deviceId}`, { headers, body })
  }
})
beforeEach(() => {
  harness.clock.time = NOW
  pages = []
})

async function find(query: string) {
  const answer = await harness.api('GET', `/devices?${query}`, { headers })
  const { items = [], nextCursor } = answer.body.data ?? {}
  return { ...answer, nextCursor, ids: items.map(({ deviceId }) => deviceId), items }
}

async function findAll(query: string): Promise<unknown[]> {
  return (await harness.allPages(`/devices?${query}`, { headers })).map(({ deviceId }) => deviceId)
}

test.each([
  ['online', ['a-tug', 'c-ferry', 'd-slow']],
  ['idle', ['b-TUG']],
  ['offline', ['f-lost']],
])(
  'the list of devices with the status %s contains the devices that have it now',
  async (status, expected) => {
    const found = await find(`status=${status}`)
    const withInterval = status === 'idle' ? ['b-TUG', 'e-fast'] : expected
    expect(found.ids).toEqual(withInterval)
    for (const device of found.items) expect(device['status']).toBe(status)
    harness.clock.time += 1000 * MINUTE
    expect((await find(`status=${status}`)).ids).toEqual(
      status === 'offline' ? FLEET.map(({ deviceId }) => deviceId) : [],
    )
  },
)

test.each([
  ['tug', ['a-tug', 'b-TUG']],
  ['TuG', ['a-tug', 'b-TUG']],
  ['-t', ['a-tug', 'b-TUG', 'e-fast', 'f-lost', 'c-ferry']],
  ['čigra', ['a-tug']],
  ['c\u030cIGR', ['a-tug']],
  ['straße', ['c-ferry']],
  ['€', ['c-ferry']],
  ['A.TUG', ['a-tug']],
  ['tug čigra', ['a-tug']],
  ['tug straße', []],
  ['005 straße', ['c-ferry']],
  ['a-tug of', []],
  ['strasse', ['c-ferry']],
  ['CIGRA', []],
  [' - ', ['a-tug', 'b-TUG', 'd-slow', 'e-fast', 'f-lost', 'c-ferry']],
  ['(', []],
  [' - % \u0000', []],
  ['tug (', ['a-tug', 'b-TUG']],
  ['$ne', []],
  ['undefined', []],
])(
  'the list of devices with the text %j contains the devices whose id or name has its words',
  async (q, expected) => {
    expect((await find(`q=${encodeURIComponent(q)}`)).ids).toEqual(expected)
  },
)

test.each([
  ['13.5,45,13.7,45.7', ['a-tug', 'b-TUG', 'c-ferry']],
  ['13.51,45,13.7,45.7', ['a-tug', 'b-TUG']],
  ['13.5,45.0001,13.65,45.7', ['b-TUG']],
  ['179,-20,-179,-10', ['d-slow', 'e-fast']],
  ['-179,-20,179,-10', []],
  ['-180,-90,180,90', FLEET.map(({ deviceId }) => deviceId)],
  ['0,90,0,90', ['f-lost']],
])('the list of devices within %s contains the devices inside that box', async (bbox, expected) => {
  expect((await find(`bbox=${bbox}`)).ids).toEqual(expected)
})

test.each([
  ['deviceId', ['a-tug', 'b-TUG', 'c-ferry', 'd-slow', 'e-fast', 'f-lost']],
  ['-deviceId', ['f-lost', 'e-fast', 'd-slow', 'c-ferry', 'b-TUG', 'a-tug']],
  ['lastSeenAt', ['d-slow', 'f-lost', 'b-TUG', 'c-ferry', 'e-fast', 'a-tug']],
  ['-lastSeenAt', ['a-tug', 'e-fast', 'c-ferry', 'b-TUG', 'f-lost', 'd-slow']],
  ['firstSeenAt', ['d-slow', 'f-lost', 'b-TUG', 'c-ferry', 'e-fast', 'a-tug']],
  ['-firstSeenAt', ['a-tug', 'e-fast', 'c-ferry', 'b-TUG', 'f-lost', 'd-slow']],
])(
  'the list of devices sorted by %s has that order, whole or in pages of any size',
  async (sort, expected) => {
    for (const limit of [1, 2, 3, 6, 100]) {
      expect(await findAll(`sort=${sort}&limit=${limit}`)).toEqual(expected)
      const afloat = expected.filter((id) => id !== 'f-lost')
      expect(await findAll(`sort=${sort}&limit=${limit}&q=-&bbox=1,-90,-1,90`)).toEqual(afloat)
    }
  },
)

test('a page of the list of devices is read in one query', async () => {
  expect((await find('limit=3&sort=lastSeenAt&bbox=-180,-90,180,90')).ids).toHaveLength(3)
  expect(pages.map(({ limit }) => limit)).toEqual([4])
})

test('the list of devices combines all filters', async () => {
  expect((await find('status=online&q=TUG&bbox=13,45,14,46&sort=-lastSeenAt')).ids).toEqual([
    'a-tug',
  ])
})

test.each([
  ['q', `q=${'x'.repeat(129)}`],
  ['bbox', 'bbox=1,2,3'],
  ['bbox', 'bbox=1,2,3,4,5'],
  ['bbox', 'bbox=NaN,2,3,4'],
  ['bbox', 'bbox=Infinity,2,3,4'],
  ['bbox', 'bbox=0x1,2,3,4'],
  ['bbox', 'bbox=1e1,2,3,4'],
  ['bbox', 'bbox=,2,3,4'],
  ['bbox', 'bbox=1,2,3,4%00'],
  ['bbox', 'bbox=1, 2,3,4'],
  ['bbox', 'bbox=1,5,3,4'],
  ['bbox', 'bbox=1,-90.1,3,4'],
  ['bbox', 'bbox=1,2,3,90.1'],
  ['bbox', 'bbox=-180.1,2,3,4'],
  ['bbox', 'bbox=1,2,180.1,4'],
  ['sort', 'sort=altitude'],
  ['sort', 'sort=match'],
  ...['name', 'status', 'speed', 'timestamp', '-battery', 'labels', 'reportCount'].map(
    (column) => ['sort', `sort=${column}`] as const,
  ),
  ['sort', 'sort=--deviceId'],
  ['sort', 'sort=%2BdeviceId'],
])('the list of devices rejects an invalid %s: %s', async (field, query) => {
  const answer = await find(query)
  expect(answer.status).toBe(400)
  expect(answer.body.details).toEqual([{ field, message: expect.stringContaining(field) }])
  expect(pages).toEqual([])
})

test('the list of devices rejects a cursor of another filter, sort or account', async () => {
  const query = 'q=-&limit=1&status=online&bbox=-180,-90,180,90&sort=deviceId'
  const { nextCursor } = await find(query)
  const cursor = `&cursor=${nextCursor ?? ''}`
  expect((await find(query + cursor)).ids).toEqual(['c-ferry'])
  expect((await find(query.replace('limit=1', 'limit=2') + cursor)).status).toBe(200)
  const others = [
    query.replace('q=-', 'q=a'),
    query.replace('&status=online', ''),
    query.replace('online', 'offline'),
    query.replace('180,90', '180,89'),
    query.replace('sort=deviceId', 'sort=-deviceId'),
    query.replace('sort=deviceId', 'sort=lastSeenAt'),
    'limit=1',
  ]
  const { secret } = await harness.createKey({ accountId: 'acc-2' })
  const path = `/devices?${query}${cursor}`
  const answers = [await harness.api('GET', path, { headers: bearer(secret) })]
  for (const other of others) answers.push(await find(other + cursor))
  for (const answer of answers) {
    expect(answer.status).toBe(400)
    expect(answer.body.details?.[0]?.field).toBe('cursor')
  }
})

describe('a search with few matches', () => {
  const MANY = 20_500

  beforeAll(async () => {
    const changes = Array.from({ length: MANY }, (_, index) => ({
      accountId: 'acc-2',
      deviceId: `m${String(index).padStart(5, '0')}${index % 10_000 === 9_998 ? '-wanted' : ''}`,
      receivedAt: T0 + index,
    }))
    await harness.project(...(changes as [Partial<PositionReported>]))
    await harness.project({ accountId: 'acc-2', deviceId: 'z-wanted' })
  })

  async function page(query: string) {
    const { secret } = await harness.createKey({ accountId: 'acc-2' })
    const answer = await harness.api('GET', `/devices?${query}`, { headers: bearer(secret) })
    const { items = [], nextCursor } = answer.body.data ?? {}
    return { ids: items.map(({ deviceId }) => deviceId), nextCursor }
  }

  test('a search with few matches takes one read of the store, and every page but the last is full', async () => {
    const first = await page('q=WANTED&limit=2')
    expect(pages).toHaveLength(1)
    expect(first.ids).toEqual(['z-wanted', 'm09998-wanted'])
    expect(first.nextCursor).not.toBeNull()
    pages = []
    const second = await page(`q=WANTED&limit=2&cursor=${first.nextCursor ?? ''}`)
    expect(pages[0]?.after?.deviceId).toBe('m09998-wanted')
    expect(second).toEqual({ ids: ['m19998-wanted'], nextCursor: null })
    expect(await page('q=nowhere')).toEqual({ ids: [], nextCursor: null })
    expect((await page('q=M2&limit=3&sort=-deviceId')).ids).toEqual(['m20499', 'm20498', 'm20497'])
  })
})

test('the list of devices with a keyId contains the devices whose last report used that key', async () => {
  await harness.project({ deviceId: 'z-two keys', keyId: 'old', receivedAt: T0 })
  await harness.project({ deviceId: 'z-two keys', keyId: 'new', receivedAt: T0 + 1 })
  expect((await find('keyId=new')).items).toMatchObject([
    { deviceId: 'z-two keys', lastKeyId: 'new' },
  ])
  expect((await find('keyId=old')).ids).toEqual([])
  expect((await find('keyId=key-1&sort=-lastSeenAt&limit=2')).ids).toEqual(['a-tug', 'e-fast'])
  expect(await findAll('keyId=key-1&sort=-lastSeenAt&limit=2')).toHaveLength(FLEET.length)
})
