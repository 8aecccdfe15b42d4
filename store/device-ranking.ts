import { DependencyError } from '../runtime/errors.ts'
import {
  compareSortValues,
  type SortValue,
  deviceSearchKey,
  isFound,
  matchRank,
  quickLook,
  wholeWords,
} from '../schemas/devices/device-search.ts'
import type { Device } from '../schemas/devices/read-models.ts'
import type { DeviceQuery, DevicePlace, PagedDevice } from './read-models.ts'

/** The few columns that determine a device's rank in a page. */
export type RankedDevice = readonly [deviceId: string, name: string | null, value: SortValue]

/** How often to refill a page whose devices are erased while it is read. */
const MOST_ROUNDS = 5

/** Whether no index has the page's order, so that every device must be examined. */
export function isRanked({ sort = 'deviceId', words }: DeviceQuery): boolean {
  return words !== undefined || sort === 'firstSeenAt'
}

/** A page of devices: first their ranks, then the devices at these ranks. */
export async function readPageAt(
  query: DeviceQuery,
  {
    place,
    find,
  }: {
    readonly place: (query: DeviceQuery) => Promise<readonly DevicePlace[]>
    readonly find: (deviceIds: readonly string[]) => Promise<readonly Device[]>
  },
): Promise<PagedDevice[]> {
  const page: PagedDevice[] = []
  let { after } = query
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const limit = query.limit - page.length
    const places = await place({ ...query, limit, ...(after && { after }) })
    const devices = await find(places.map(({ deviceId }) => deviceId))
    const byDeviceId = new Map(devices.map((device) => [device.status.deviceId, device]))
    for (const place of places) {
      const device = byDeviceId.get(place.deviceId)
      if (device !== undefined) page.push({ ...device, place })
    }
    if (page.length === query.limit || places.length < limit) return page
    after = places.at(-1)
  }
  throw new DependencyError('devices were erased faster than a page of them was read', {
    retriable: true,
  })
}

/**
 * The ranks of a page: goes through narrow rows of devices, and selects those of the page.
 * @param walk the rows of the filtered devices.
 * @param isInOrder whether they come in the page's order; otherwise they come in the order of their
 * ids and the page's direction, and every device is examined.
 */
export async function rankAmong(
  query: DeviceQuery,
  { walk, isInOrder }: { walk: AsyncIterable<readonly RankedDevice[]>; isInOrder: boolean },
): Promise<DevicePlace[]> {
  const { limit, sort = 'deviceId', order = 'asc', after, words = [] } = query
  /** A device that reports in the meantime may appear again. */
  const taken = new Set<string>()
  const look = quickLook(words)
  const compare = (a: DevicePlace, b: DevicePlace) => compareSortValues(a.value, b.value, order)
  let places: DevicePlace[] = []
  let worst: DevicePlace | undefined

  for await (const rows of walk) {
    for (const row of rows) take(row)
    if (isInOrder && places.length >= limit) break
  }
  cut()
  return places

  /** Sorting is stable: equal devices stay in the order of the rows. */
  function cut(): void {
    places = places.sort(compare).slice(0, limit)
    worst = places.length === limit ? places.at(-1) : undefined
  }

  function take([deviceId, name, value]: RankedDevice): void {
    let place: DevicePlace = { deviceId, value }
    if (words.length > 0) {
      const mostWhole = look(`${name ?? ''}\n${deviceId}`)
      if (mostWhole === undefined) return
      const rankWhole = (whole: number) =>
        sort === 'match'
          ? { deviceId, value: matchRank({ whole, label: name ?? deviceId }) }
          : place
      // Most devices are on a later page at best, or on an earlier one in any case.
      if (isBeyond(rankWhole(mostWhole)) || isBefore(rankWhole(0))) return
      const key = deviceSearchKey(name, deviceId)
      if (!isFound(key, words)) return
      place = rankWhole(wholeWords(key, words))
    }
    if (isBeyond(place) || isBefore(place) || taken.has(deviceId)) return
    if (isInOrder) taken.add(deviceId)
    places.push(place)
    if (places.length >= 2 * limit + 1_000) cut()
  }

  function isBeyond(place: DevicePlace): boolean {
    return worst !== undefined && compare(place, worst) >= 0
  }

  /** Whether it was on an earlier page. */
  function isBefore(place: DevicePlace): boolean {
    if (after === undefined) return false
    const compared = compare(place, after)
    if (compared !== 0) return compared < 0
    const byId = compareIds(place.deviceId, after.deviceId)
    return order === 'asc' ? byId <= 0 : byId >= 0
  }
}

const SURROGATE = /[\ud800-\udfff]/

/**
 * In the order of UTF-8 bytes. JavaScript compares UTF-16 code units, which differs for surrogates.
 */
export function compareIds(a: string, b: string): number {
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : Number(a > b)
}
