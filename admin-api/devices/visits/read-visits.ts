import { endOfTurn, turnTaker } from '../../../runtime/end-of-turn.ts'
import type { Area, Box } from '../../../schemas/geo/area.ts'
import { hasEntered, hasLeft, type Fix } from '../../../schemas/geo/area-sides.ts'
import type { NearStep } from '../../../store/read-models.ts'
import type { Store } from '../../../store/store.ts'

/** A stay of a device in an area; times in milliseconds, cut at the ends of the range. */
export type AreaVisit = {
  readonly deviceId: string
  readonly from: number
  readonly to: number
  /** It was there already when the range began. */
  readonly isBegun: boolean
  /** It was still there when the range ended. */
  readonly isOpen: boolean
  readonly lastInsideAt: number
}

export type VisitQuery = {
  readonly accountId: string
  readonly deviceIds: readonly string[]
  readonly areas: readonly Area[]
  readonly from: number
  readonly to: number
}

type Reading = {
  readonly store: Pick<Store, 'findLastPositions' | 'readNear'>
  readonly isWanted: () => boolean
}

/** Reading this many records takes a few milliseconds. */
const READ_AT_ONCE = 10_000
const FIRST_STRETCH_MS = 60 * 60_000
const LAST_FOUND_AT_ONCE = 250

type Begun = { readonly from: number; readonly isBegun: boolean; lastInsideAt: number }

/**
 * The visits of devices to an area, in the order of the devices and of time. A device enters and
 * leaves as it does a geofence with these areas, judged by its records in the order of its history,
 * and is inside from the beginning if its last record before the range has entered. Ends early when
 * `isWanted` returns false.
 */
export async function readVisits(
  query: VisitQuery,
  { store, isWanted }: Reading,
): Promise<readonly AreaVisit[]> {
  const { areas, from, to, ...devices } = query
  const boxes = boxesAroundAll(areas)
  const inside = await findInsideAtStart(query, store)
  const visits = new Map<string, AreaVisit[]>()
  const end = (deviceId: string, visit: Begun, rest: Pick<AreaVisit, 'to' | 'isOpen'>) => {
    const own = visits.get(deviceId)
    if (own === undefined) visits.set(deviceId, [{ deviceId, ...visit, ...rest }])
    else own.push({ deviceId, ...visit, ...rest })
  }
  const turnEnds = turnTaker()
  let length = FIRST_STRETCH_MS
  for (let start = from; start < to && isWanted();) {
    const asked = Math.min(start + length, to)
    const stretch = {
      ...devices,
      boxes,
      from: start,
      to: asked,
      following: [...inside.keys()],
      limit: READ_AT_ONCE,
    }
    const { tracks, until } = await store.readNear(stretch)
    for (const [deviceId, steps] of tracks) {
      await turnEnds()
      for (const step of steps) {
        const { timestamp } = step
        const visit = inside.get(deviceId)
        if (visit === undefined) {
          if (!hasEntered(areas, fixOf(step))) continue
          inside.set(deviceId, { from: timestamp, isBegun: false, lastInsideAt: timestamp })
        } else if (hasLeft(areas, fixOf(step))) {
          end(deviceId, visit, { to: timestamp, isOpen: false })
          inside.delete(deviceId)
        } else visit.lastInsideAt = timestamp
      }
    }
    length = until === asked ? 2 * length : until - start
    start = until
  }
  for (const [deviceId, visit] of inside) end(deviceId, visit, { to, isOpen: true })
  return query.deviceIds.flatMap((deviceId) => visits.get(deviceId) ?? [])
}

function fixOf({ latitude, longitude, accuracy }: NearStep): Fix {
  return accuracy === null ? { latitude, longitude } : { latitude, longitude, accuracy }
}

/** The devices that were inside before the range, and since when. */
async function findInsideAtStart(
  { accountId, deviceIds, areas, from }: VisitQuery,
  store: Reading['store'],
): Promise<Map<string, Begun>> {
  const inside = new Map<string, Begun>()
  for (let at = 0; at < deviceIds.length; at += LAST_FOUND_AT_ONCE) {
    const some = deviceIds.slice(at, at + LAST_FOUND_AT_ONCE)
    const records = await store.findLastPositions({ accountId, deviceIds: some, before: from })
    for (const record of records) {
      if (!hasEntered(areas, record)) continue
      inside.set(record.deviceId, { from, isBegun: true, lastInsideAt: record.timestamp })
    }
    await endOfTurn()
  }
  return inside
}

/** At most one box on each side of the prime meridian, so that 180° separates them. */
function boxesAroundAll(areas: readonly Area[]): readonly Box[] {
  const boxes = areas.flatMap((area) => area.boxes)
  const sides = [boxes.filter(({ west }) => west < 0), boxes.filter(({ west }) => west >= 0)]
  return sides.flatMap((side) => {
    if (side.length === 0) return []
    return {
      west: Math.min(...side.map(({ west }) => west)),
      south: Math.min(...side.map(({ south }) => south)),
      east: Math.max(...side.map(({ east }) => east)),
      north: Math.max(...side.map(({ north }) => north)),
    }
  })
}
