import type { Filter, FindCursor, WithId } from 'mongodb'
import { deviceKey } from '../../schemas/position-reported.ts'
import type { PositionRecord, TrackPoint, TrackStep } from '../../schemas/read-models.ts'
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
  const documents = await find(sources, query, kept)
  return documents?.map(positionRecord).toArray() ?? []
}

export async function pageTrack(
  sources: Sources,
  query: Parameters<ReadModels['pageTrack']>[0],
  kept: Filter<PositionDocument>,
): Promise<TrackStep[]> {
  const documents = await find(sources, { ...query, order: 'asc' }, kept)
  return documents?.project<StepDocument>(STEP_FIELDS).map(trackStep).toArray() ?? []
}

export async function findTrackPoints(
  sources: Sources,
  { accountId, deviceId, recordIds }: Parameters<ReadModels['findTrackPoints']>[0],
  kept: Filter<PositionDocument>,
): Promise<TrackPoint[]> {
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
 * One index scan by (account, device, timestamp, _id), in either direction. Undefined if the device
 * is being erased.
 */
async function find(
  sources: Sources,
  query: Parameters<ReadModels['pagePositions']>[0],
  kept: Filter<PositionDocument>,
): Promise<FindCursor<WithId<PositionDocument>> | undefined> {
  const { accountId, deviceId, from, to, order, limit, after } = query
  const erased = await erasedOf(sources, query)
  if (erased === 'everything') return undefined
  const ahead = order === 'asc' ? '$gt' : '$lt'
  const direction = order === 'asc' ? 1 : -1
  const bounds: Filter<PositionDocument>[] = [kept]
  if (erased !== undefined) bounds.push({ $nor: erasedRecords(erased) })
  if (from !== undefined) bounds.push({ timestamp: { $gte: new Date(from) } })
  if (to !== undefined) bounds.push({ timestamp: { $lt: new Date(to) } })
  if (after !== undefined) {
    const timestamp = new Date(after.timestamp)
    const _id = recordKey({ accountId, recordId: after.recordId })
    // The second implies the first, which lets the index scan begin at the place.
    bounds.push({ timestamp: { [`${ahead}e`]: timestamp } })
    bounds.push({ $or: [{ timestamp: { [ahead]: timestamp } }, { _id: { [ahead]: _id } }] })
  }
  return sources.positions
    .find({ accountId, deviceId, $and: bounds }, READ)
    .sort({ timestamp: direction, _id: direction })
    .limit(limit)
}

/** One scan of the same index; the server finds the step of each record. */
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
 * `$bucket` tries one bound after the other, up to a thousand for each record.
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
  // After that look-up, not concurrently: an erasure pending then may be applied by now.
  const document = await deviceStatuses.findOne(
    { _id: deviceKey({ accountId, deviceId }), accountId, deviceId },
    { projection: { erased: 1 }, ...READ },
  )
  return document?.erased
}
