import { expect } from '@jest/globals'
import fc from 'fast-check'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import type { DeviceQuery } from '../../store/read-models.ts'
import { positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { batchOf, newAccountId, ODD_DEVICE_IDS, type PositionEntry } from './store-samples.ts'

type Query = Omit<DeviceQuery, 'accountId' | 'limit'>
type Reported = Partial<PositionReported> & { deviceId: string }

const SORTS = ['deviceId', 'lastSeenAt'] as const
const ORDERS = ['asc', 'desc'] as const
const EVERYWHERE = { west: -180, south: -90, east: 180, north: 90 }

export function devicePagesContract({ promise, shared, log }: StoreSuite): void {
  promise(
    'pages go through every device once, by any order, also where many were seen at once',
    async ({ accountId }) => {
      const devices = ODD_DEVICE_IDS.map((deviceId, n) => ({ deviceId, receivedAt: T0 + (n % 4) }))
      await report(accountId, devices)
      await report(newAccountId(), devices)
      const byId = [...devices].sort((a, b) => bytes(a.deviceId).compare(bytes(b.deviceId)))
      // Sorting is stable: devices of one time stay in the order of their ids.
      const byTime = [...byId].sort((a, b) => a.receivedAt - b.receivedAt)
      for (const sort of SORTS) {
        const wanted = (sort === 'deviceId' ? byId : byTime).map(({ deviceId }) => deviceId)
        expect(await ids(accountId, { sort })).toEqual(wanted)
        expect(await ids(accountId, { sort, order: 'asc' })).toEqual(wanted)
        expect(await ids(accountId, { sort, order: 'desc' })).toEqual([...wanted].reverse())
      }
      expect(await ids(accountId, {})).toEqual(byId.map(({ deviceId }) => deviceId))
      expect(await ids(accountId, { order: 'desc' })).toEqual(
        await ids(accountId, { sort: 'deviceId', order: 'desc' }),
      )
    },
  )

  promise('pages are full as long as there are more devices', async ({ accountId }) => {
    const devices = Array.from({ length: 20 }, (_, n) => ({
      deviceId: `tracker-${n}`,
      receivedAt: T0 + (n % 3),
      longitude: n % 2 === 0 ? 10 : -10,
    }))
    await report(accountId, devices)
    const bbox = { west: 9, south: -90, east: 11, north: 90 }
    for (const sort of SORTS) {
      for (const order of ORDERS) {
        const sizes = (await pages(accountId, { sort, order, bbox }, 4)).map(({ length }) => length)
        expect(sizes).toEqual([4, 4, 2])
      }
    }
  })

  promise(
    'pages by time follow the newest report, in whatever order it arrived',
    async ({ accountId }) => {
      await report(accountId, [
        { deviceId: 'a', receivedAt: T0 + 1 },
        { deviceId: 'b', receivedAt: T0 + 5 },
        { deviceId: 'c', receivedAt: T0 + 3 },
      ])
      expect(await ids(accountId, { sort: 'lastSeenAt' })).toEqual(['a', 'c', 'b'])
      await report(accountId, [
        { deviceId: 'a', receivedAt: T0 + 4 },
        { deviceId: 'b', receivedAt: T0 },
      ])
      expect(await ids(accountId, { sort: 'lastSeenAt' })).toEqual(['c', 'a', 'b'])
      expect(await ids(accountId, { sort: 'lastSeenAt', order: 'desc' })).toEqual(['b', 'a', 'c'])
    },
  )

  promise(
    'pages hold the devices seen from a time, inclusive, to another, exclusive',
    async ({ accountId }) => {
      const times = [0, 1, 2, 2, 3, 5]
      await report(
        accountId,
        times.map((time, n) => ({ deviceId: `tracker-${n}`, receivedAt: T0 + time })),
      )
      const seen = async (query: Query) => {
        const found = []
        for (const sort of SORTS) {
          for (const order of ORDERS) {
            found.push((await ids(accountId, { ...query, sort, order })).sort().join())
          }
        }
        expect(new Set(found).size).toBe(1)
        return found[0]?.replaceAll('tracker-', '')
      }
      expect(await seen({ seenFrom: T0 + 2 })).toBe('2,3,4,5')
      expect(await seen({ seenBefore: T0 + 2 })).toBe('0,1')
      expect(await seen({ seenFrom: T0 + 1, seenBefore: T0 + 3 })).toBe('1,2,3')
      expect(await seen({ seenFrom: T0 + 4, seenBefore: T0 + 5 })).toBe('')
      expect(await seen({ seenFrom: T0 + 3, seenBefore: T0 + 3 })).toBe('')
      expect(await seen({ seenFrom: T0 + 6 })).toBe('')
      expect(await seen({ seenBefore: T0 })).toBe('')
    },
  )

  promise(
    'a page that ended outside the range continues at the beginning of the range',
    async ({ accountId }) => {
      const devices = [1, 2, 3].map((n) => ({ deviceId: `tracker-${n}`, receivedAt: T0 + n }))
      await report(accountId, devices)
      const bounds = { seenFrom: T0 + 2, seenBefore: T0 + 3, sort: 'lastSeenAt' as const }
      for (const [order, lastSeenAt] of [
        ['asc', T0],
        ['desc', T0 + 9],
      ] as const) {
        const after = { deviceId: 'tracker-1', value: lastSeenAt }
        const page = await shared.store.pageDevices({
          accountId,
          limit: 9,
          order,
          after,
          ...bounds,
        })
        expect(page.map(({ status }) => status.deviceId)).toEqual(['tracker-2'])
      }
    },
  )

  promise(
    'pages inside a box hold the devices whose last position is there, on its edges too',
    async ({ accountId }) => {
      await report(accountId, [
        { deviceId: 'north west', latitude: 10, longitude: 20 },
        { deviceId: 'south east', latitude: -1.5, longitude: 30.25 },
        { deviceId: 'middle', latitude: 5, longitude: 25 },
        { deviceId: 'too far north', latitude: 10.000001, longitude: 25 },
        { deviceId: 'too far south', latitude: -1.500001, longitude: 25 },
        { deviceId: 'too far west', latitude: 5, longitude: 19.999999 },
        { deviceId: 'too far east', latitude: 5, longitude: 30.250001 },
      ])
      const bbox = { west: 20, south: -1.5, east: 30.25, north: 10 }
      expect(await ids(accountId, { bbox })).toEqual(['middle', 'north west', 'south east'])
      expect(await ids(accountId, { bbox: EVERYWHERE })).toHaveLength(7)
      const point = { west: 25, east: 25, south: 5, north: 5 }
      expect(await ids(accountId, { bbox: point })).toEqual(['middle'])
      expect(await ids(accountId, { bbox: { ...point, south: 6, north: 6 } })).toEqual([])
    },
  )

  promise(
    'pages inside a box whose west is east of its east hold what is across 180°',
    async ({ accountId }) => {
      const longitudes = [-180, -179.5, -170, -169.9, 0, 169.9, 170, 180]
      await report(
        accountId,
        longitudes.map((longitude) => ({ deviceId: String(longitude), longitude, latitude: 0 })),
      )
      const within = async (west: number, east: number) =>
        (await ids(accountId, { bbox: { ...EVERYWHERE, west, east } })).map(Number).sort(byNumber)
      expect(await within(170, -170)).toEqual([-180, -179.5, -170, 170, 180])
      expect(await within(180, -180)).toEqual([-180, 180])
      expect(await within(-170, 170)).toEqual([-170, -169.9, 0, 169.9, 170])
      const north = { west: 170, east: -170, south: 1, north: 90 }
      expect(await ids(accountId, { bbox: north })).toEqual([])
    },
  )

  promise(
    'a device that moved is where its last position is, and only there',
    async ({ accountId }) => {
      const [here, there] = [
        { west: 0, south: 0, east: 1, north: 1 },
        { west: 2, south: 2, east: 3, north: 3 },
      ]
      const at = (degrees: number, time: number) =>
        report(accountId, [
          {
            deviceId: 'a',
            latitude: degrees,
            longitude: degrees,
            timestamp: T0 + time,
            receivedAt: T0 + 9,
          },
        ])
      await at(0.5, 5)
      await at(2.5, 6)
      await at(0.5, 1)
      expect(await ids(accountId, { bbox: here })).toEqual([])
      expect(await ids(accountId, { bbox: there })).toEqual(['a'])
    },
  )

  promise(
    'any filter with any order gives what filtering and sorting all devices gives',
    async ({ accountId }) => {
      const devices = Array.from({ length: 40 }, (_, n) => ({
        deviceId: `tracker-${(n * 17) % 40}`,
        receivedAt: T0 + ((n * 7) % 5),
        latitude: ((n * 11) % 5) - 2,
        longitude: ((n * 13) % 7) * 60 - 180,
      }))
      await report(accountId, devices)
      await fc.assert(
        fc.asyncProperty(filter, fc.integer({ min: 1, max: 7 }), async (query, limit) => {
          const found = (await pages(accountId, query, limit)).flat()
          expect(found).toEqual(filtered(devices, query))
        }),
        { numRuns: 60 },
      )
    },
  )

  async function report(accountId: string, devices: readonly Reported[]): Promise<void> {
    const [head, ...tail] = devices.map((fields) =>
      log.append(positionReported({ accountId, ...fields })),
    ) as [PositionEntry, ...PositionEntry[]]
    await shared.store.project(batchOf(head, ...tail))
  }

  async function ids(accountId: string, query: Query): Promise<string[]> {
    return (await pages(accountId, query, 5)).flat()
  }

  async function pages(accountId: string, query: Query, limit: number): Promise<string[][]> {
    const seen: string[][] = []
    let after: DeviceQuery['after'] | undefined
    do {
      const page = await shared.store.pageDevices({
        accountId,
        limit,
        ...query,
        ...(after && { after }),
      })
      after = page.at(-1)?.place
      if (page.length > 0) seen.push(page.map(({ status }) => status.deviceId))
      if (page.length < limit) break
    } while (after !== undefined && seen.length < 100)
    return seen
  }
}

const filter: fc.Arbitrary<Query> = fc.record(
  {
    sort: fc.constantFrom(...SORTS),
    order: fc.constantFrom(...ORDERS),
    seenFrom: fc.nat(5).map((n) => T0 + n),
    seenBefore: fc.nat(5).map((n) => T0 + n),
    bbox: fc.record({
      west: fc.constantFrom(-180, -60, 0, 60, 180),
      south: fc.integer({ min: -2, max: 0 }),
      east: fc.constantFrom(-180, -60, 0, 60, 180),
      north: fc.integer({ min: 0, max: 2 }),
    }),
  },
  { requiredKeys: [] },
)

function filtered(
  devices: readonly { deviceId: string; receivedAt: number; latitude: number; longitude: number }[],
  {
    sort = 'deviceId',
    order = 'asc',
    seenFrom = -Infinity,
    seenBefore = Infinity,
    bbox = EVERYWHERE,
  }: Query,
): string[] {
  const { west, south, east, north } = bbox
  const found = devices
    .filter(({ receivedAt }) => receivedAt >= seenFrom && receivedAt < seenBefore)
    .filter(({ latitude }) => latitude >= south && latitude <= north)
    .filter(({ longitude }) =>
      west <= east
        ? longitude >= west && longitude <= east
        : longitude >= west || longitude <= east,
    )
    .sort((a, b) => (a.deviceId < b.deviceId ? -1 : 1))
  if (sort === 'lastSeenAt') found.sort((a, b) => a.receivedAt - b.receivedAt)
  if (order === 'desc') found.reverse()
  return found.map(({ deviceId }) => deviceId)
}

function bytes(text: string): Buffer {
  return Buffer.from(text)
}

function byNumber(a: number, b: number): number {
  return a - b
}
