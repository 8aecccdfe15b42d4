import { beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isListed } from '../../schemas/devices/device-id.ts'
import { deviceSearchKey, isFound, searchWords } from '../../schemas/devices/device-search.ts'
import { liveness, type Device } from '../../schemas/devices/read-models.ts'
import type { DeviceQuery } from '../../store/read-models.ts'
import { deviceErased } from './store-samples.ts'
import { positionReported, T0 } from '../samples.ts'
import type { StoreSuite } from './store-suite.ts'
import { batchOf, newAccountId, ODD_DEVICE_IDS, type PositionEntry } from './store-samples.ts'

type Query = Omit<DeviceQuery, 'accountId' | 'limit'>

const MINUTE = 60_000
const NOW = T0 + 100 * MINUTE
const STATUSES = ['online', 'idle', 'offline'] as const

/** `silent`: minutes since the last report. */
const FLEET: readonly { deviceId: string; silent: number; name?: string; every?: number }[] = [
  { deviceId: 'a-tug', silent: 1, name: 'Čigra' },
  { deviceId: 'A-TUG', silent: 5 },
  { deviceId: 'b-ferry', silent: 5.001, name: 'STRAßE €5' },
  { deviceId: 'b-ferry-2', silent: 60 },
  { deviceId: 'c 100%_[x]*?', silent: 60.001, name: 'a.b\\c' },
  { deviceId: 'd-slow', silent: 90, every: 3_600 },
  { deviceId: 'e-fast', silent: 1.01, every: 10 },
  { deviceId: 'f-fast', silent: 5.01, every: 10.5, name: 'tug of war' },
  { deviceId: 'ǆ-ŽELVA', silent: 0, name: 'e\u0301te\u0301' },
]

export function deviceSearchContract({ promise, shared, log }: StoreSuite): void {
  describe('searching devices', () => {
    const accountId = newAccountId()
    let devices: Device[] = []

    beforeAll(async () => {
      for (const { deviceId, silent, name, every } of FLEET) {
        const receivedAt = NOW - silent * MINUTE
        const keyId = `key-${Math.ceil(silent / 60)}`
        const longitude = silent > 60 ? 10 : -10
        const fields = { accountId, deviceId, receivedAt, keyId, longitude }
        await shared.store.project(batchOf(log.append(positionReported(fields))))
        if (name === undefined && every === undefined) continue
        await shared.store.changeDeviceSettings({
          accountId,
          deviceId,
          changedAt: T0,
          ...(name !== undefined && { name }),
          ...(every !== undefined && { expectedIntervalSeconds: every }),
        })
      }
      const other = positionReported({ accountId: newAccountId(), deviceId: 'a-tug' })
      await shared.store.project(batchOf(log.append(other)))
      devices = await shared.store.pageDevices({ accountId, limit: 100 })
      expect(devices).toHaveLength(FLEET.length)
    })

    test.each([
      ['tug', ['A-TUG', 'a-tug', 'f-fast']],
      ['TuG', ['A-TUG', 'a-tug', 'f-fast']],
      ['čIGRA', ['a-tug']],
      ['c\u030cigra', ['a-tug']],
      ['straße', ['b-ferry']],
      ['strasse', ['b-ferry']],
      ['ẞ', ['b-ferry']],
      ['(', []],
      ['[', ['c 100%_[x]*?']],
      ['*', ['c 100%_[x]*?']],
      ['_ %', ['c 100%_[x]*?']],
      ['€', ['b-ferry']],
      ['É', ['ǆ-ŽELVA']],
      ['ÉTé', ['ǆ-ŽELVA']],
      ['Ǆ-ž', ['ǆ-ŽELVA']],
      ['[X]*?', ['c 100%_[x]*?']],
      ['.B\\C', ['c 100%_[x]*?']],
      ['00100% a', ['c 100%_[x]*?']],
      ['^a', []],
      ['a|b', []],
      ['ferry straße', ['b-ferry']],
      ['02 ferry', ['b-ferry-2']],
      ['atug', ['A-TUG', 'a-tug']],
      ['tug\u0000', ['A-TUG', 'a-tug', 'f-fast']],
      ['$ne', []],
    ])(
      'a search finds devices with each word of %j in their id or name',
      async (text, expected) => {
        expect(await ids({ words: searchWords(text) })).toEqual(expected)
      },
    )

    test.each(STATUSES)(
      'a search finds devices that are %s, as each one says of itself',
      async (is) => {
        const expected = devices.filter((device) => liveness(device, NOW) === is)
        expect(expected.length).toBeGreaterThan(1)
        expect(await ids({ status: { is, now: NOW } })).toEqual(expected.map(idOf))
      },
    )

    test.each([
      [['a-tug'], ['a-tug']],
      [['a-*'], ['a-tug']],
      [['b-ferry', 'nothing', 'b-ferry'], ['b-ferry']],
      [['b-ferry*'], ['b-ferry', 'b-ferry-2']],
      [
        ['b-ferry*', 'b-ferry-2', 'b-*', 'a-tug'],
        ['a-tug', 'b-ferry', 'b-ferry-2'],
      ],
      [
        ['b-ferry', 'b-ferry*'],
        ['b-ferry', 'b-ferry-2'],
      ],
      [['c 100%_[x]*?'], ['c 100%_[x]*?']],
      [['c 100%_[x]*'], ['c 100%_[x]*?']],
      [['.*', '^a*', 'a-tu.'], []],
      [[], []],
    ])('a search in the list %j finds nothing else', async (list, expected) => {
      for (const sort of ['deviceId', 'lastSeenAt'] as const) {
        expect((await ids({ devices: list, sort })).sort(byBytes)).toEqual(expected)
      }
    })

    promise('a list that ends in * has every device, the oddest too', async () => {
      const odd = newAccountId()
      const all = [...ODD_DEVICE_IDS, 'last \u{10ffff}\u{10ffff}'].map((deviceId) =>
        log.append(positionReported({ accountId: odd, deviceId })),
      )
      await shared.store.project(batchOf(...(all as [PositionEntry])))
      const page = { accountId: odd, limit: 100, devices: ['*', 'last*'] }
      expect(await shared.store.pageDevices(page)).toHaveLength(all.length)
      const last = await shared.store.pageDevices({ ...page, devices: ['last*'] })
      expect(last).toHaveLength(1)
    })

    promise('a device whose erasure is under way is not found', async () => {
      const own = newAccountId()
      const entry = log.append(positionReported({ accountId: own, deviceId: 'tug' }))
      await shared.store.project(batchOf(entry))
      const page = { accountId: own, limit: 9, words: searchWords('tug') }
      expect(await shared.store.pageDevices(page)).toHaveLength(1)
      await shared.store.hideErased(deviceErased({ accountId: own, deviceId: 'tug' }))
      expect(await shared.store.pageDevices(page)).toEqual([])
    })

    promise('any search in any order gives what looking through all devices gives', async () => {
      await fc.assert(
        fc.asyncProperty(search, fc.integer({ min: 1, max: 4 }), async (query, limit) => {
          expect(await ids(query, limit)).toEqual(lookThrough(devices, query))
        }),
        { numRuns: 60 },
      )
    })

    /** In full pages. */
    async function ids(query: Query, limit = 3): Promise<string[]> {
      const found: string[] = []
      for (let after: DeviceQuery['after'] | undefined; ;) {
        const page = await shared.store.pageDevices({
          accountId,
          limit,
          ...query,
          ...(after && { after }),
        })
        found.push(...page.map(idOf))
        after = page.at(-1)?.place
        if (after === undefined || page.length < limit) return found
      }
    }
  })
}

const search: fc.Arbitrary<Query> = fc.record(
  {
    sort: fc.constantFrom('deviceId', 'lastSeenAt'),
    order: fc.constantFrom('asc', 'desc'),
    keyId: fc.constantFrom('key-0', 'key-1', 'key-2', 'key-3'),
    seenFrom: fc.nat(7).map((n) => NOW - n * n * MINUTE),
    words: fc.constantFrom('T', 'fast', 'FERRY', 'č', 'ug o', 'zz').map(searchWords),
    status: fc.record({
      is: fc.constantFrom(...STATUSES),
      now: fc.nat(4).map((n) => NOW + n * n * 10 * MINUTE),
    }),
    devices: fc.subarray(['a-*', 'A-TUG', 'b-*', 'b-ferry', 'c*', 'd-slow', 'e-fast', 'f*', 'zz']),
    bbox: fc.constant({ west: -11, south: -90, east: -9, north: 90 }),
  },
  { requiredKeys: [] },
)

function lookThrough(devices: readonly Device[], query: Query): string[] {
  const { sort = 'deviceId', order = 'asc', seenFrom = -Infinity } = query
  const { words = [], status, devices: list, bbox, keyId } = query
  const found = devices.filter((device) => {
    const { deviceId, lastSeenAt, lastPosition } = device.status
    return (
      lastSeenAt >= seenFrom &&
      isListed(list, deviceId) &&
      (keyId === undefined || device.status.lastKeyId === keyId) &&
      (bbox === undefined || lastPosition.longitude < 0) &&
      (status === undefined || liveness(device, status.now) === status.is) &&
      isFound(deviceSearchKey(device.settings.name ?? null, deviceId), words)
    )
  })
  if (sort === 'lastSeenAt') found.sort((a, b) => a.status.lastSeenAt - b.status.lastSeenAt)
  if (order === 'desc') found.reverse()
  return found.map(idOf)
}

function idOf({ status }: Device): string {
  return status.deviceId
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
