import { beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  DEVICE_SORTS,
  deviceSearchKey,
  isFound,
  searchWords,
  wholeWords,
  type SearchKey,
} from '../../schemas/devices/device-search.ts'
import type { Device } from '../../schemas/devices/read-models.ts'
import type { DeviceQuery } from '../../store/read-models.ts'
import { positionReported, T0 } from '../samples.ts'
import { batchOf, newAccountId, ODD_DEVICE_IDS, type PositionEntry } from './store-samples.ts'
import type { StoreSuite } from './store-suite.ts'

type Query = Omit<DeviceQuery, 'accountId' | 'limit'>
type Sort = NonNullable<DeviceQuery['sort']>

const MINUTE = 60_000
const NOW = T0 + 100 * MINUTE
const ORDERS = ['asc', 'desc'] as const

const VANS = ['van-07', 'van-7', 'VAN_70', 'Van 17', 'van-700', 'caravan-7', 'truck-7', 'van']
const DEVICE_IDS = [...VANS, ...ODD_DEVICE_IDS]
const NAMES = ['Van 7', 'Süd 10', 'Sud 9', 'süd 2', 'truck', 'Čigra']
const LABELS = [['night'], ['Night', 'van'], ['10'], ['9', 'van']]

export function deviceOrderContract({ promise, shared, log }: StoreSuite): void {
  describe('devices in the order of a column', () => {
    const accountId = newAccountId()
    let devices: Device[] = []

    beforeAll(async () => {
      for (const [n, deviceId] of DEVICE_IDS.entries()) {
        const receivedAt = NOW - ((n * 7) % 90) * MINUTE
        const fields = { receivedAt, timestamp: receivedAt - (n % 5) * MINUTE }
        const event = positionReported({ accountId, deviceId, ...fields })
        const earlier = { ...event, recordId: `0${event.recordId.slice(1)}`, timestamp: T0 }
        const again = n % 6 === 0 ? [log.append({ ...earlier, receivedAt: T0 + (n % 2) })] : []
        await shared.store.project(batchOf(log.append(event), ...again))
        await shared.store.changeDeviceSettings({
          accountId,
          deviceId,
          changedAt: T0,
          ...(n % 2 === 0 && { name: NAMES[n % NAMES.length] ?? null }),
          ...(n % 5 < 2 && { labels: LABELS[n % LABELS.length] ?? [] }),
        })
      }
      const other = positionReported({ accountId: newAccountId(), deviceId: 'van-07' })
      await shared.store.project(batchOf(log.append(other)))
      devices = await shared.store.pageDevices({ accountId, limit: 100 })
      expect(devices).toHaveLength(DEVICE_IDS.length)
    })

    const eachOrder = DEVICE_SORTS.flatMap((sort) => ORDERS.map((order) => [sort, order] as const))
    test.each(eachOrder)('pages by %s %s hold each device once', async (sort, order) => {
      const query = { sort, order }
      const wanted = inOrder(devices, query)
      for (const limit of [4, 100]) expect(await ids(query, limit)).toEqual(wanted)
    })

    promise('a search puts whole words first, then shorter names', async () => {
      const account = newAccountId()
      const entries = VANS.map((deviceId) =>
        log.append(positionReported({ accountId: account, deviceId })),
      )
      await shared.store.project(batchOf(...(entries as [PositionEntry])))
      const page = {
        accountId: account,
        limit: 9,
        sort: 'match',
        words: searchWords('van 7'),
      } as const
      expect((await shared.store.pageDevices(page)).map(idOf)).toEqual([
        ...['van-7', 'van-07', 'VAN_70', 'Van 17', 'van-700', 'caravan-7'],
      ])
    })

    promise('places are those of the devices on a page', async () => {
      await fc.assert(
        fc.asyncProperty(search, fc.integer({ min: 1, max: 9 }), async (query, limit) => {
          const page = await shared.store.pageDevices({ accountId, limit, ...query })
          const places = await shared.store.placeDevices({ accountId, limit, ...query })
          expect(places).toEqual(page.map(({ place }) => place))
        }),
        { numRuns: 30 },
      )
    })

    promise('any search in any order gives what sorting all devices gives', async () => {
      await fc.assert(
        fc.asyncProperty(search, fc.integer({ min: 1, max: 5 }), async (query, limit) => {
          expect(await ids(query, limit)).toEqual(inOrder(devices, query))
        }),
        { numRuns: 60 },
      )
    })

    async function ids(query: Query, limit: number): Promise<string[]> {
      const found: string[] = []
      for (let after: DeviceQuery['after']; ;) {
        const place = after && { after }
        const page = await shared.store.pageDevices({ accountId, limit, ...query, ...place })
        found.push(...page.map(idOf))
        after = page.at(-1)?.place
        if (page.length < limit) return found
      }
    }
  })
}

const filter = {
  devices: fc.subarray(['van*', 'VAN*', 'truck', 'Truck', 'truck-7', 'c*', 'zz'], { minLength: 1 }),
  labels: fc.constantFrom(['van'], ['night']),
  seenFrom: fc.nat(9).map((n) => NOW - n * n * MINUTE),
}
const words = fc.constantFrom('van', '7', 'v a', 'süd', 'TRUCK', 'zz').map(searchWords)
const sort = fc.constantFrom(...DEVICE_SORTS)
const order = fc.constantFrom(...ORDERS)

const search: fc.Arbitrary<Query> = fc.oneof(
  fc.record({ ...filter, sort, order, words }, { requiredKeys: [] }),
  fc.record({ ...filter, sort: fc.constant('match'), words }, { requiredKeys: ['sort', 'words'] }),
)

function inOrder(devices: readonly Device[], query: Query): string[] {
  const { sort = 'deviceId', order = 'asc', words = [], seenFrom = 0, labels = [] } = query
  const turn = order === 'asc' ? 1 : -1
  const found = devices.filter(
    ({ status, settings }) =>
      isFound(deviceSearchKey(settings.name ?? null, status.deviceId), words) &&
      status.lastSeenAt >= seenFrom &&
      labels.every((label) => settings.labels?.includes(label)) &&
      (query.devices?.some((one) =>
        one.endsWith('*') ? status.deviceId.startsWith(one.slice(0, -1)) : status.deviceId === one,
      ) ??
        true),
  )
  const valued = found.map((device) => ({ device, values: valuesOf(device, { sort, words }) }))
  valued.sort((a, b) => {
    for (const [n, one] of a.values.entries()) {
      const compared = one - (b.values[n] ?? NaN)
      if (compared !== 0) return turn * compared
    }
    return turn * Buffer.compare(Buffer.from(idOf(a.device)), Buffer.from(idOf(b.device)))
  })
  return valued.map(({ device }) => idOf(device))
}

/** By which a device is sorted, the weightiest first. */
function valuesOf(
  device: Device,
  { sort, words }: { sort: Sort; words: readonly SearchKey[] },
): number[] {
  const { status, settings } = device
  switch (sort) {
    case 'deviceId':
      return []
    case 'lastSeenAt':
    case 'firstSeenAt':
      return [status[sort]]
    case 'match': {
      const key = deviceSearchKey(settings.name ?? null, status.deviceId)
      return [-wholeWords(key, words), (settings.name ?? status.deviceId).length]
    }
  }
}

function idOf({ status }: Device): string {
  return status.deviceId
}
