import { turnTaker } from '../../runtime/end-of-turn.ts'
import { compareIds, isRanked, type RankedDevice } from '../device-ranking.ts'
import type { DeviceCounts, DeviceQuery, Devices } from '../read-models.ts'
import { type Clause, deviceRanges } from './device-filters.ts'
import { countsOfPart, endOfPart, rowsOfPart, type Selection, type Walked } from './device-rows.ts'

/** The number of devices that a statement walks, however few of them match: a few milliseconds. */
const PART = 1_000

/** The read models to walk, and their hidden devices: fetched again after each turn. */
export type WalkedModels = () => {
  readonly select: <Row>(selection: Selection) => Row[]
  readonly hidden: readonly string[]
}

/** Whether `walkDevices` yields the page's order without examining every device. */
export function isWalkInOrder(query: DeviceQuery): boolean {
  return !isRanked(query) && (query.sort !== 'lastSeenAt' || isWalkByTime(query))
}

/** The narrow rows of the filtered devices of a page, in parts; other work runs in between. */
export async function* walkDevices(
  query: DeviceQuery,
  models: WalkedModels,
): AsyncGenerator<readonly RankedDevice[], void> {
  const isByTime = isWalkByTime(query)
  const isPlain = isWalkInOrder(query)
  const most = isPlain ? Math.min(query.limit, PART) : PART
  for await (const bounds of isByTime ? partsByTime(query, models) : partsById(query, models)) {
    const { select, hidden } = models()
    const index = isByTime ? 'time' : 'id'
    yield select<RankedDevice>(rowsOfPart(query, { index, bounds, most, hidden }))
  }
}

/** The number of an account's devices by status, counted in parts. */
export async function countDevices(
  query: Parameters<Devices['countDevices']>[0],
  models: WalkedModels,
): Promise<DeviceCounts> {
  const sum = { total: 0, online: 0, idle: 0, offline: 0, disabled: 0 }
  for await (const bounds of partsById(query, models)) {
    const { select, hidden } = models()
    const [part] = select<readonly number[]>(countsOfPart(query, { bounds, hidden }))
    const [total = 0, online = 0, idle = 0, offline = 0, disabled = 0] = part ?? []
    sum.total += total
    sum.online += online
    sum.idle += idle
    sum.offline += offline
    sum.disabled += disabled
  }
  return sum
}

/** The index by time does not include keys, and a short list of devices is looked up by id. */
function isWalkByTime({ sort, words, devices, keyId }: DeviceQuery): boolean {
  return (
    sort === 'lastSeenAt' && words === undefined && devices === undefined && keyId === undefined
  )
}

/** The bounds of parts along the ids. A page in id order starts after the previous page. */
async function* partsById(
  query: Walked & Pick<DeviceQuery, 'devices' | 'sort' | 'after'>,
  models: WalkedModels,
): AsyncGenerator<readonly Clause[], void> {
  const { devices = ['*'], order = 'asc', sort = 'deviceId' } = query
  const isUp = order === 'asc'
  const ranges = deviceRanges(devices)
  const turnEnds = turnTaker()
  let last = sort === 'deviceId' ? query.after?.deviceId : undefined
  for (const [from, to] of isUp ? ranges : ranges.reverse()) {
    const [begin, end] = isUp ? [from, to] : [to, from]
    const isAhead = (a: string, b: string) => (isUp ? compareIds(a, b) > 0 : compareIds(a, b) < 0)
    for (;;) {
      if (last !== undefined && !isAhead(end, last)) break
      await turnEnds()
      const isBegun = last !== undefined && !isAhead(begin, last)
      const start = isBegun ? idIs(isUp ? '>' : '<', last) : idIs(isUp ? '>=' : '<=', begin)
      const upTo = (deviceId: string) => [start, idIs(isUp ? '<=' : '>=', deviceId)]
      // An exact id is a part by itself.
      const place = from === to ? undefined : endOf<readonly [string]>(query, 'id', upTo(end))
      yield upTo(place?.[0] ?? end)
      last = place?.[0] ?? end
    }
  }

  function endOf<Place>(walked: Walked, index: 'id', bounds: readonly Clause[]) {
    return models().select<Place>(endOfPart(walked, { index, bounds, size: PART }))[0]
  }
}

function idIs(relation: string, deviceId = ''): Clause {
  return { sql: `device_id ${relation} ?`, values: [deviceId] }
}

/**
 * The bounds of parts along the times, each after the previous one or, at first, after the previous
 * page.
 */
async function* partsByTime(
  query: DeviceQuery,
  models: WalkedModels,
): AsyncGenerator<readonly Clause[], void> {
  const { order = 'asc', after, seenFrom, seenBefore } = query
  const isUp = order === 'asc'
  const turnEnds = turnTaker()
  const end = isUp ? timeIs('<', seenBefore ?? Infinity) : timeIs('>=', seenFrom ?? -Infinity)
  // No deviceId is empty, so (time, '') lies directly before the first device of that time.
  let last: TimePlace = [isUp ? (seenFrom ?? -Infinity) : (seenBefore ?? Infinity), '']
  if (after !== undefined && isAhead(Number(after.value), last[0])) {
    last = [Number(after.value), after.deviceId]
  }
  for (;;) {
    await turnEnds()
    const start = timePlaceIs(isUp ? '>' : '<', last)
    const part = { index: 'time', bounds: [start, end], size: PART } as const
    const [place] = models().select<TimePlace>(endOfPart(query, part))
    if (place === undefined) {
      yield [start, end]
      return
    }
    yield [start, end, timePlaceIs(isUp ? '<=' : '>=', place)]
    last = place
  }

  /**
   * A device with exactly the bound's time lies within it when ascending, and beyond it when
   * descending.
   */
  function isAhead(time: number, bound: number): boolean {
    return isUp ? time >= bound : time < bound
  }
}

type TimePlace = readonly [lastSeenAt: number, deviceId: string]

function timeIs(relation: string, time: number): Clause {
  return { sql: `last_seen_at ${relation} ?`, values: [time] }
}

function timePlaceIs(relation: string, place: TimePlace): Clause {
  return { sql: `(last_seen_at, device_id) ${relation} (?, ?)`, values: place }
}
