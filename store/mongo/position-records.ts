import type { Filter, Sort } from 'mongodb'
import { compareOrigins } from '../../schemas/geo/position-order.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import {
  type HistoryPlace,
  type PositionRecord,
  type TrackRow,
  type TrackStep,
} from '../../schemas/devices/read-models.ts'
import type { ReadModels } from '../read-models.ts'
import {
  READ,
  type Collections,
  type Erased,
  type PositionDocument,
  type ReadModelCollections,
} from './collections.ts'
import type { DeviceName } from './device-documents.ts'
import { erasedRecords, isErased } from './erased.ts'
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
  const erased = await erasedOf(sources, record)
  return erased === 'everything' || isErased(erased, record) ? undefined : record
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
  const erased = await erasedOf(sources, { accountId, deviceId })
  if (erased === 'everything') return []
  const ids = recordIds.map((recordId) => recordKey({ accountId, recordId }))
  const bounds: Filter<PositionDocument>[] = [kept, { _id: { $in: ids } }]
  if (erased !== undefined) bounds.push({ $nor: erasedRecords(erased) })
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
  const { accountId, deviceId, order, limit, after } = query
  const erased = await erasedOf(sources, query)
  if (erased === 'everything') return []
  const find = (bounds: Filter<PositionDocument>[], sort: Sort, most: number): Promise<T[]> => {
    const all = [kept, ...bounds]
    if (erased !== undefined) all.push({ $nor: erasedRecords(erased) })
    const found = sources.positions.find({ accountId, deviceId, $and: all }, READ)
    const shown = fields === undefined ? found : found.project(fields)
    return shown.sort(sort).limit(most).toArray() as unknown as Promise<T[]>
  }
  const direction = order === 'asc' ? 1 : -1
  const documents = await find(boundsOf(query), { timestamp: direction }, limit + 1)
  const [next, last] = [documents[limit], documents[limit - 1]]
  if (next === undefined || next.timestamp.getTime() !== last?.timestamp.getTime()) {
    return inOrder(documents.slice(0, limit), direction)
  }
  // The page ends among records of one time: only the server can tell which of them come first.
  const before = documents.filter(
    ({ timestamp }) => timestamp.getTime() !== next.timestamp.getTime(),
  )
  const ends: Filter<PositionDocument>[] = [{ timestamp: next.timestamp }]
  if (after !== undefined) ends.push(...beyond(after, order))
  const sort = { 'origin.partition': direction, 'origin.offset': direction } as const
  const rest = await find(ends, sort, limit - before.length)
  return [...inOrder(before, direction), ...rest]
}

type Ordered = Pick<PositionDocument, 'timestamp' | 'origin'>

function boundsOf({ from, to, order, after }: Parameters<ReadModels['pagePositions']>[0]) {
  const bounds: Filter<PositionDocument>[] = []
  if (from !== undefined) bounds.push({ timestamp: { $gte: new Date(from) } })
  if (to !== undefined) bounds.push({ timestamp: { $lt: new Date(to) } })
  if (after !== undefined) bounds.push(...beyond(after, order))
  return bounds
}

/** The first bound follows from the second, and lets the index scan start at this position. */
function beyond(
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

function inOrder<T extends Ordered>(documents: T[], direction: 1 | -1): T[] {
  return documents.sort((a, b) => {
    const byTime = a.timestamp.getTime() - b.timestamp.getTime()
    return direction * (byTime || compareOrigins(a.origin, b.origin))
  })
}

/** One scan of the same index; the server determines the step of each record. */
export async function countPositions(
  sources: Sources,
  { accountId, deviceId, bounds }: Parameters<ReadModels['countPositions']>[0],
  kept: Filter<PositionDocument>,
): Promise<number[]> {
  const counts = bounds.slice(1).map(() => 0)
  const [first, last] = [bounds[0], bounds.at(-1)]
  if (first === undefined || last === undefined || first === last) return counts
  const erased = await erasedOf(sources, { accountId, deviceId })
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
            ...(erased !== undefined && { $nor: erasedRecords(erased) }),
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
async function erasedOf(
  { hiddenDevices, deviceStatuses }: Sources,
  { accountId, deviceId }: DeviceName,
): Promise<Erased | 'everything' | undefined> {
  const device = { accountId, deviceIds: [deviceId] }
  const pending = await pendingErasures({ hiddenDevices, deviceStatuses }, device)
  if (pending.size > 0) return 'everything'
  // After that look-up, not concurrently: a pending erasure may have been applied by now.
  const document = await deviceStatuses.findOne(
    { _id: deviceKey({ accountId, deviceId }), accountId, deviceId },
    { projection: { erased: 1 }, ...READ },
  )
  return document?.erased
}
