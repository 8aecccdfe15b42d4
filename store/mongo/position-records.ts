import type { Filter, Sort } from 'mongodb'
import { compareOrigins } from '../../schemas/geo/position-order.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import {
  type HistoryPlace,
  type PositionRecord,
  type TrackRow,
  type TrackStep,
} from '../../schemas/devices/read-models.ts'
import type { NearQuery, ReadModels } from '../read-models.ts'
import {
  READ,
  type Collections,
  type Erased,
  type PositionDocument,
  type ReadModelCollections,
} from './collections.ts'
import type { DeviceName } from './device-documents.ts'
import { erasedRecordFilters, isErased } from './erased.ts'
import { pendingErasures } from './hidden-devices.ts'
import {
  positionRecord,
  recordKey,
  STEP_FIELDS,
  TRACK_FIELDS,
  trackPoint,
  trackStep,
  type StepDocument,
  type TrackDocument,
} from './position-documents.ts'

/** Look-ups under way at a time. */
const FOUND_AT_ONCE = 16
const NEAR_FIELDS = {
  deviceId: 1,
  timestamp: 1,
  receivedAt: 1,
  latitude: 1,
  longitude: 1,
  accuracy: 1,
  origin: 1,
} as const
type NearDocument = Pick<PositionDocument, keyof typeof NEAR_FIELDS>

type Sources = ReadModelCollections & Pick<Collections, 'hiddenDevices'>

export async function findPosition(
  sources: Sources,
  { accountId, recordId }: Parameters<ReadModels['findPosition']>[0],
  kept: Filter<PositionDocument>,
): Promise<PositionRecord | undefined> {
  const document = await sources.positions.findOne(
    {
      ...kept,
      _id: recordKey({ accountId, recordId }),
      accountId,
    },
    READ,
  )
  if (document === null) return undefined
  const record = positionRecord(document)
  const erased = await readErased(sources, record)
  return erased === 'everything' || isErased(erased, record) ? undefined : record
}

export async function findLastPositions(
  sources: Sources,
  { accountId, deviceIds, before }: Parameters<ReadModels['findLastPositions']>[0],
  kept: Filter<PositionDocument>,
): Promise<PositionRecord[]> {
  const erased = await readErasedOfEach(sources, { accountId, deviceIds })
  const found: PositionDocument[] = []
  for (let at = 0; at < deviceIds.length; at += FOUND_AT_ONCE) {
    const last = async (deviceId: string) => {
      const one = erased.get(deviceId)
      if (one === 'everything') return []
      const query = { accountId, deviceId, to: before, limit: 1, order: 'desc' } as const
      return readPage<PositionDocument>(sources, query, { kept, erased: one })
    }
    found.push(...(await Promise.all(deviceIds.slice(at, at + FOUND_AT_ONCE).map(last))).flat())
  }
  return found.map(positionRecord)
}

export async function readNear(
  sources: Sources,
  { accountId, deviceIds, following, from, to, boxes, limit }: NearQuery,
  kept: Filter<PositionDocument>,
): ReturnType<ReadModels['readNear']> {
  const erased = await readErasedOfEach(sources, { accountId, deviceIds })
  const visible = deviceIds.filter((deviceId) => erased.get(deviceId) !== 'everything')
  const rangeFilter = (ids: readonly string[], until: number) => ({
    accountId,
    deviceId: { $in: [...ids] },
    timestamp: { $gte: new Date(from), $lt: new Date(until) },
  })
  let until = to
  const limited = { limit: limit + 1, ...READ }
  while (until - from > 1) {
    const count = await sources.positions.countDocuments(rangeFilter(visible, until), limited)
    if (count <= limit) break
    until = Math.floor((from + until) / 2)
  }
  const inBoxes = boxes.map(({ west, south, east, north }) => ({
    latitude: { $gte: south, $lte: north },
    longitude: { $gte: west, $lte: east },
  }))
  const wanted = { ...rangeFilter(visible, until), $or: inBoxes }
  const near = [...following, ...(await sources.positions.distinct('deviceId', wanted, READ))]
  const shown = near.filter((deviceId) => erased.get(deviceId) !== 'everything')
  const documents = await sources.positions
    .find({ ...rangeFilter(shown, until), $and: [kept] }, READ)
    .project<NearDocument>(NEAR_FIELDS)
    .toArray()
  const tracks = new Map<string, NearDocument[]>()
  for (const document of documents) {
    const { deviceId, origin, receivedAt } = document
    const one = erased.get(deviceId)
    if (one === 'everything' || isErased(one, { origin, receivedAt: receivedAt.getTime() }))
      continue
    const track = tracks.get(deviceId)
    if (track === undefined) tracks.set(deviceId, [document])
    else track.push(document)
  }
  const steps = (track: NearDocument[]) =>
    sortDocuments(track, 1).map(({ timestamp, latitude, longitude, accuracy = null }) => ({
      timestamp: timestamp.getTime(),
      latitude,
      longitude,
      accuracy,
    }))
  return { until, tracks: new Map(Array.from(tracks, ([id, track]) => [id, steps(track)])) }
}

export async function pagePositions(
  sources: Sources,
  query: Parameters<ReadModels['pagePositions']>[0],
  kept: Filter<PositionDocument>,
): Promise<PositionRecord[]> {
  return (await page<PositionDocument>(sources, query, kept)).map(positionRecord)
}

export async function pageTrack(
  sources: Sources,
  query: Parameters<ReadModels['pageTrack']>[0],
  kept: Filter<PositionDocument>,
): Promise<TrackStep[]> {
  const ascending = { ...query, order: 'asc' } as const
  return (await page<StepDocument>(sources, ascending, kept, STEP_FIELDS)).map(trackStep)
}

export async function findTrackPoints(
  sources: Sources,
  { accountId, deviceId, recordIds }: Parameters<ReadModels['findTrackPoints']>[0],
  kept: Filter<PositionDocument>,
): Promise<TrackRow[]> {
  const erased = await readErased(sources, { accountId, deviceId })
  if (erased === 'everything') return []
  const ids = recordIds.map((recordId) => recordKey({ accountId, recordId }))
  const bounds: Filter<PositionDocument>[] = [kept, { _id: { $in: ids } }]
  if (erased !== undefined) bounds.push({ $nor: erasedRecordFilters(erased) })
  const documents = await sources.positions
    .find({ accountId, deviceId, $and: bounds }, READ)
    .project<TrackDocument>(TRACK_FIELDS)
    .toArray()
  const byId = new Map(documents.map((document) => [document._id, document]))
  return ids.flatMap((id) => {
    const document = byId.get(id)
    return document === undefined ? [] : [trackPoint(document)]
  })
}

/**
 * A page of a history. The index, in either version, orders by timestamp only; records with the
 * same timestamp are ordered here. Empty if the device is being erased.
 */
async function page<T extends Ordered>(
  sources: Sources,
  query: Parameters<ReadModels['pagePositions']>[0],
  kept: Filter<PositionDocument>,
  fields?: Readonly<Record<string, 1>>,
): Promise<T[]> {
  const erased = await readErased(sources, query)
  return erased === 'everything' ? [] : readPage(sources, query, { kept, erased, fields })
}

async function readPage<T extends Ordered>(
  sources: Sources,
  query: Parameters<ReadModels['pagePositions']>[0],
  {
    kept,
    erased,
    fields,
  }: {
    readonly kept: Filter<PositionDocument>
    readonly erased: Erased | undefined
    readonly fields?: Readonly<Record<string, 1>> | undefined
  },
): Promise<T[]> {
  const { accountId, deviceId, order, limit, after } = query
  const find = (bounds: Filter<PositionDocument>[], sort: Sort, most: number): Promise<T[]> => {
    const all = [kept, ...bounds]
    if (erased !== undefined) all.push({ $nor: erasedRecordFilters(erased) })
    const found = sources.positions.find({ accountId, deviceId, $and: all }, READ)
    const shown = fields === undefined ? found : found.project(fields)
    return shown.sort(sort).limit(most).toArray() as unknown as Promise<T[]>
  }
  const direction = order === 'asc' ? 1 : -1
  const documents = await find(boundsOf(query), { timestamp: direction }, limit + 1)
  const [next, last] = [documents[limit], documents[limit - 1]]
  if (next === undefined || next.timestamp.getTime() !== last?.timestamp.getTime()) {
    return sortDocuments(documents.slice(0, limit), direction)
  }
  // The page ends among records with the same time: only the server knows which of them come first.
  const before = documents.filter(
    ({ timestamp }) => timestamp.getTime() !== next.timestamp.getTime(),
  )
  const ends: Filter<PositionDocument>[] = [{ timestamp: next.timestamp }]
  if (after !== undefined) ends.push(...filterAfter(after, order))
  const sort = { 'origin.partition': direction, 'origin.offset': direction } as const
  const rest = await find(ends, sort, limit - before.length)
  return [...sortDocuments(before, direction), ...rest]
}

type Ordered = Pick<PositionDocument, 'timestamp' | 'origin'>

function boundsOf({ from, to, order, after }: Parameters<ReadModels['pagePositions']>[0]) {
  const bounds: Filter<PositionDocument>[] = []
  if (from !== undefined) bounds.push({ timestamp: { $gte: new Date(from) } })
  if (to !== undefined) bounds.push({ timestamp: { $lt: new Date(to) } })
  if (after !== undefined) bounds.push(...filterAfter(after, order))
  return bounds
}

/** The first bound follows from the second, and lets the index scan start at this position. */
function filterAfter(
  { timestamp, origin: { partition, offset } }: HistoryPlace,
  order: 'asc' | 'desc',
): Filter<PositionDocument>[] {
  const ahead = order === 'asc' ? '$gt' : '$lt'
  const at = new Date(timestamp)
  return [
    { timestamp: { [`${ahead}e`]: at } },
    {
      $or: [
        { timestamp: { [ahead]: at } },
        { 'origin.partition': { [ahead]: partition } },
        { 'origin.partition': partition, 'origin.offset': { [ahead]: offset } },
      ],
    },
  ]
}

function sortDocuments<T extends Ordered>(documents: T[], direction: 1 | -1): T[] {
  return documents.sort((a, b) => {
    const byTime = a.timestamp.getTime() - b.timestamp.getTime()
    return direction * (byTime || compareOrigins(a.origin, b.origin))
  })
}

/** Counts in one scan of the same index; the server assigns each record to its step. */
export async function countPositions(
  sources: Sources,
  { accountId, deviceId, bounds }: Parameters<ReadModels['countPositions']>[0],
  kept: Filter<PositionDocument>,
): Promise<number[]> {
  const counts = bounds.slice(1).map(() => 0)
  const [first, last] = [bounds[0], bounds.at(-1)]
  if (first === undefined || last === undefined || first === last) return counts
  const erased = await readErased(sources, { accountId, deviceId })
  if (erased === 'everything') return counts
  const found = await sources.positions
    .aggregate<{ _id: number; count: number }>(
      [
        {
          $match: {
            accountId,
            deviceId,
            timestamp: { $gte: new Date(first), $lt: new Date(last) },
            ...kept,
            ...(erased !== undefined && { $nor: erasedRecordFilters(erased) }),
          },
        },
        { $group: { _id: stepOf(bounds, 0, bounds.length - 1), count: { $sum: 1 } } },
      ],
      READ,
    )
    .toArray()
  for (const { _id, count } of found) counts[_id] = count
  return counts
}

/**
 * An expression for the step, from `first` to `end`, that contains a timestamp, as a binary search:
 * `$bucket` tries one bound after the other, up to a thousand per record.
 */
function stepOf(bounds: readonly number[], first: number, end: number): object {
  if (end - first === 1) return { $literal: first }
  const middle = Math.floor((first + end) / 2)
  const isBefore = { $lt: ['$timestamp', new Date(bounds[middle] ?? 0)] }
  return { $cond: [isBefore, stepOf(bounds, first, middle), stepOf(bounds, middle, end)] }
}

/** Erased records may still exist, or be written late: the status document identifies them. */
async function readErased(
  sources: Sources,
  { accountId, deviceId }: DeviceName,
): Promise<Erased | 'everything' | undefined> {
  return (await readErasedOfEach(sources, { accountId, deviceIds: [deviceId] })).get(deviceId)
}

async function readErasedOfEach(
  { hiddenDevices, deviceStatuses }: Sources,
  devices: { readonly accountId: string; readonly deviceIds: readonly string[] },
): Promise<ReadonlyMap<string, Erased | 'everything'>> {
  const { accountId, deviceIds } = devices
  const pending = await pendingErasures({ hiddenDevices, deviceStatuses }, devices)
  // After that look-up, not concurrently: a pending erasure may have been applied by now.
  const documents = await deviceStatuses
    .find(
      {
        _id: { $in: deviceIds.map((deviceId) => deviceKey({ accountId, deviceId })) },
        accountId,
        erased: { $exists: true },
      },
      { projection: { deviceId: 1, erased: 1 }, ...READ },
    )
    .toArray()
  const erased = new Map<string, Erased | 'everything'>()
  for (const one of documents) if (one.erased !== undefined) erased.set(one.deviceId, one.erased)
  for (const deviceId of pending.keys()) erased.set(deviceId, 'everything')
  return erased
}
