import { beforeAll, describe, expect } from '@jest/globals'
import fc from 'fast-check'
import { isListed } from '../../schemas/devices/device-id.ts'
import {
  DEVICE_SORTS,
  deviceSearchKey,
  isFound,
  matchRank,
  searchWords,
  wholeWords,
} from '../../schemas/devices/device-search.ts'
import { liveness, type Device } from '../../schemas/devices/read-models.ts'
import type { DevicePlace, DeviceQuery } from '../../store/read-models.ts'
import { deviceErased, positionReported, T0 } from '../samples.ts'
import { batchOf, newAccountId, ODD_DEVICE_IDS, type PositionEntry } from './store-samples.ts'
import type { StoreSuite } from './store-suite.ts'

type Query = Omit<DeviceQuery, 'accountId' | 'limit'>

const MINUTE = 60_000
const NOW = T0 + 100 * MINUTE
const HIDDEN = 'van-hidden'
const DEVICE_IDS = [
  ...ODD_DEVICE_IDS,
  ...['van-07', 'van-7', 'VAN_70', 'Van 17', 'van-700', 'caravan-7', 'truck-7', 'van', 'a-tug'],
  ...['A-TUG', 'b-ferry', 'b-ferry-2', 'c 100%_[x]*?', 'ǆ-ŽELVA', HIDDEN, 'last \u{10ffff}'],
]
/** Minutes since the last report: also at and just beyond the limits of `online` and `idle`. */
const SILENT = [0, 1, 1.01, 5, 5.001, 5.01, 60, 60.001, 90]
const INTERVALS = [undefined, undefined, 10, 10.5, 3_600]
const NAMES = [
  'Van 7',
  'STRAßE €5',
  'Sud 9',
  'süd 2',
  'truck',
  'Čigra',
  'a.b\\c',
  'e\u0301te\u0301',
]
const LABELS = [['night'], ['Night', 'van'], ['10'], ['9', 'van'], ['"', '$van']]
const LATITUDES = [-1.5, 0, 5, 10]
const LONGITUDES = [-180, -179.5, -60, 0, 60, 170, 180]
const SEARCHES = [
  ...['tug', 'TuG', 'čIGRA', 'c\u030cigra', 'straße', 'ẞ', '(', '[', '*', '_ %', '€', 'ÉTé', 'Ǆ-ž'],
  ...[
    '.B\\C',
    '00100% a',
    '^a',
    'a|b',
    'ferry straße',
    '02 ferry',
    'atug',
    'tug\0',
    '$ne',
    'van 7',
  ],
  ...['v a', '7', 'van', 'süd'],
]
const LISTED = [
  ...[
    '*',
    'van*',
    'VAN*',
    'a-*',
    'b-ferry',
    'b-ferry*',
    'b-*',
    'last*',
    'c 100%_[x]*',
    '.*',
    '^a*',
  ],
  ...['truck', 'Truck', '__proto__', '$ts', 'zz'],
]

/** Lists of devices: in any order, with any filters, in pages of any size; and counts of them. */
export function deviceListsContract({ promise, shared, log, runs }: StoreSuite): void {
  describe('lists of devices', () => {
    const accountId = newAccountId()
    let all: Device[] = []

    beforeAll(async () => {
      const reports = (round: number) =>
        DEVICE_IDS.map((deviceId, n) => {
          const silent = SILENT[(n * 7) % SILENT.length] ?? 0
          // Of three reports the last, the first or the second is the newest.
          const receivedAt = NOW - (silent + ((n + round) % 3) * 7 * (n % 4)) * MINUTE
          const timestamp = receivedAt - (n % 5) * MINUTE
          const latitude = LATITUDES[(n * 3 + round) % LATITUDES.length] ?? 0
          const longitude = LONGITUDES[(n * 5 + round) % LONGITUDES.length] ?? 0
          const sent = { latitude, longitude, timestamp, receivedAt, keyId: `key-${n % 3}` }
          return log.append(positionReported({ accountId, deviceId, ...sent }))
        }) as [PositionEntry, ...PositionEntry[]]
      for (const round of [0, 1, 2]) await shared.store.project(batchOf(...reports(round)))
      const other = DEVICE_IDS.map((deviceId) =>
        log.append(positionReported({ accountId: newAccountId(), deviceId })),
      ) as [PositionEntry, ...PositionEntry[]]
      await shared.store.project(batchOf(...other))
      // Settings alone are no device.
      for (const [n, deviceId] of ['never reported', ...DEVICE_IDS].entries()) {
        const every = INTERVALS[n % INTERVALS.length]
        await shared.store.changeDeviceSettings({
          accountId,
          deviceId,
          changedAt: T0,
          disabled: n % 7 === 0,
          ...(n % 2 === 0 && { name: NAMES[n % NAMES.length] ?? null }),
          ...(n % 5 < 3 && { labels: LABELS[n % LABELS.length] ?? [] }),
          ...(every !== undefined && { expectedIntervalSeconds: every }),
        })
      }
      await shared.store.hideErased(deviceErased({ accountId, deviceId: HIDDEN }))
      const deviceIds = [...DEVICE_IDS, 'never reported']
      all = await shared.store.findDevices({ accountId, deviceIds })
      const wanted = DEVICE_IDS.filter((deviceId) => deviceId !== HIDDEN)
      expect(all.map(idOf).sort()).toEqual(wanted.sort())
    })

    promise('any query gives the same as scanning all devices, in full pages', async () => {
      await fc.assert(
        fc.asyncProperty(queries, fc.constantFrom(2, 7, 20, 60), async (query, limit) => {
          const found = inOrder(all, query)
          const from = { accountId, limit, ...query }
          expect(await shared.store.placeDevices(from)).toEqual(found.slice(0, limit))
          const pages = await pagesOf(from)
          expect(pages.flat()).toEqual(found)
          expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
        }),
        { numRuns: runs(200) },
      )
    })

    promise('any page continues after any device, even one that the query excludes', async () => {
      await fc.assert(
        fc.asyncProperty(queries, fc.nat(99), async (query, n) => {
          const { sort, order, words } = query
          const places = inOrder(all, { sort, order, ...(sort === 'match' && { words }) } as Query)
          const after = places[n % Math.max(places.length, 1)]
          if (after === undefined) return
          const behind = new Set(
            places.slice(places.indexOf(after) + 1).map(({ deviceId }) => deviceId),
          )
          const page = await shared.store.pageDevices({ accountId, limit: 100, ...query, after })
          const wanted = inOrder(all, query).filter(({ deviceId }) => behind.has(deviceId))
          expect(page.map(({ place }) => place)).toEqual(wanted)
        }),
        { numRuns: runs(60) },
      )
    })

    promise('counts equal a count over every device, also for listed devices', async () => {
      const lists = fc.option(fc.subarray(LISTED), { nil: undefined })
      await fc.assert(
        fc.asyncProperty(lists, fc.constantFrom(0, 4, 70, 1_000), async (devices, minutes) => {
          const now = NOW + minutes * MINUTE
          const listed = all.filter((device) => isListed(devices, idOf(device)))
          const query = { accountId, now, ...(devices && { devices }) }
          expect(await shared.store.countDevices(query)).toEqual(countsOf(listed, now))
        }),
        { numRuns: runs(50) },
      )
      const none = { accountId: newAccountId(), now: NOW }
      expect(await shared.store.countDevices(none)).toEqual(countsOf([], NOW))
    })

    async function pagesOf(query: DeviceQuery): Promise<DevicePlace[][]> {
      const pages: DevicePlace[][] = []
      for (let after: DevicePlace | undefined; ;) {
        const page = await shared.store.pageDevices({ ...query, ...(after && { after }) })
        for (const { status, settings } of page) expect(all).toContainEqual({ status, settings })
        if (page.length > 0) pages.push(page.map(({ place }) => place))
        after = page.at(-1)?.place
        if (page.length < query.limit) return pages
      }
    }
  })
}

const filters = {
  keyId: fc.constantFrom('key-0', 'key-1', 'key-2', 'key-3'),
  devices: fc.subarray(LISTED),
  labels: fc.subarray([...new Set(LABELS.flat())], { minLength: 1, maxLength: 2 }),
  seenFrom: fc.constantFrom(...SILENT, 99).map((silent) => NOW - silent * MINUTE),
  seenBefore: fc.constantFrom(...SILENT, -1).map((silent) => NOW - silent * MINUTE),
  status: fc.record({
    is: fc.constantFrom('online' as const, 'idle' as const, 'offline' as const),
    now: fc.constantFrom(0, 4, 70).map((minutes) => NOW + minutes * MINUTE),
  }),
  bbox: fc
    .record({
      west: fc.constantFrom(...LONGITUDES),
      east: fc.constantFrom(...LONGITUDES),
      latitudes: fc.subarray(LATITUDES, { minLength: 1 }),
    })
    .map(({ latitudes, ...box }) => ({
      ...box,
      south: Math.min(...latitudes),
      north: Math.max(...latitudes),
    })),
}
const words = fc.constantFrom(...SEARCHES).map(searchWords)
const order = fc.constantFrom('asc' as const, 'desc' as const)
const sort = fc.constantFrom(...DEVICE_SORTS)

/** Mostly with few filters, so that something is found. */
const queries: fc.Arbitrary<Query> = fc
  .tuple(
    fc.oneof(
      fc.record({ sort, order, words }, { requiredKeys: [] }),
      fc.record({ sort: fc.constant('match' as const), words }),
    ),
    fc.record(filters),
    fc.subarray(Object.keys(filters) as (keyof typeof filters)[], { maxLength: 2 }),
  )
  .map(([query, all, chosen]) => ({
    ...query,
    ...Object.fromEntries(chosen.map((name) => [name, all[name]])),
  }))

function inOrder(devices: readonly Device[], query: Query): DevicePlace[] {
  const turn = query.order === 'desc' ? -1 : 1
  return devices
    .filter((device) => isWanted(device, query))
    .map((device) => ({ deviceId: idOf(device), value: valueOf(device, query) }))
    .sort(
      (a, b) => turn * ((a.value ?? 0) - (b.value ?? 0) || compareBytes(a.deviceId, b.deviceId)),
    )
}

function isWanted(device: Device, query: Query): boolean {
  const { status, settings } = device
  const {
    seenFrom = -Infinity,
    seenBefore = Infinity,
    bbox,
    keyId,
    labels = [],
    words = [],
  } = query
  return (
    status.lastSeenAt >= seenFrom &&
    status.lastSeenAt < seenBefore &&
    isListed(query.devices, status.deviceId) &&
    (keyId === undefined || status.lastKeyId === keyId) &&
    (bbox === undefined || isInside(bbox, status.lastPosition)) &&
    (query.status === undefined || liveness(device, query.status.now) === query.status.is) &&
    labels.every((label) => settings.labels?.includes(label)) &&
    isFound(deviceSearchKey(settings.name ?? null, status.deviceId), words)
  )
}

function isInside(
  { west, south, east, north }: NonNullable<Query['bbox']>,
  { latitude, longitude }: Device['status']['lastPosition'],
): boolean {
  const isFurtherEast = longitude >= west
  const isFurtherWest = longitude <= east
  const isBetween = west <= east ? isFurtherEast && isFurtherWest : isFurtherEast || isFurtherWest
  return isBetween && latitude >= south && latitude <= north
}

function valueOf({ status, settings }: Device, { sort = 'deviceId', words = [] }: Query) {
  if (sort === 'deviceId') return null
  if (sort !== 'match') return status[sort]
  const whole = wholeWords(deviceSearchKey(settings.name ?? null, status.deviceId), words)
  return matchRank({ whole, label: settings.name ?? status.deviceId })
}

function countsOf(devices: readonly Device[], now: number) {
  const counts = { total: devices.length, online: 0, idle: 0, offline: 0, disabled: 0 }
  for (const device of devices) {
    counts[liveness(device, now)] += 1
    if (device.settings.disabled) counts.disabled += 1
  }
  return counts
}

function idOf({ status }: Device): string {
  return status.deviceId
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
