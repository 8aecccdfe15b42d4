import type { Collection, Filter } from 'mongodb'
import type { PositionRecord } from '../../schemas/devices/read-models.ts'
import type { Generation, OriginBounds } from '../generations.ts'
import {
  READ,
  type DeviceStatusDocument,
  type Erased,
  type PositionDocument,
  type ReadModelCollections,
} from './collections.ts'
import { deviceStatusOf } from './device-documents.ts'
import { storedDevices } from './device-statuses.ts'
import { dependencyError } from './driver-errors.ts'
import { isErased } from './erased.ts'
import { positionRecord, recordKey } from './position-documents.ts'
import { REPORTED } from './retention.ts'

const READ_AT_ONCE = 1_000

type Scan = Pick<
  Generation,
  'recordOrigins' | 'origins' | 'accounts' | 'pageStatuses' | 'erasedUpTo'
>

/** The whole content of one generation, for comparing it with another. */
export function generationScan({ positions, deviceStatuses }: ReadModelCollections): Scan {
  return {
    async recordOrigins(names) {
      const found = await positions
        .find({ _id: { $in: names.map(recordKey) } }, READ)
        .project<Pick<PositionDocument, '_id' | 'origin'>>({ origin: 1 })
        .toArray()
      return new Map(found.map(({ _id, origin }) => [_id, origin]))
    },

    // Read in full rather than aggregated: a long command would exceed the socket time-out.
    async origins({ receivedSince }) {
      const bounds = new Map<number, OriginBounds>()
      const since = Number.isFinite(receivedSince)
        ? { receivedAt: { $gte: new Date(receivedSince) } }
        : {}
      const origins = positions
        .find(since, { batchSize: READ_AT_ONCE })
        .project<Pick<PositionDocument, 'origin'>>({ _id: 0, origin: 1 })
      for await (const { origin } of origins) {
        const { least, greatest } = bounds.get(origin.partition) ?? {
          least: origin.offset,
          greatest: origin.offset,
        }
        bounds.set(origin.partition, {
          least: Math.min(least, origin.offset),
          greatest: Math.max(greatest, origin.offset),
        })
      }
      return bounds
    },

    async accounts() {
      const accountIds = new Set<string>()
      for (const nextAfter of [
        firstAccountAfter(positions),
        firstAccountAfter(deviceStatuses, REPORTED),
      ]) {
        // Account ids are never empty.
        for (let last = await nextAfter(''); last !== undefined; last = await nextAfter(last)) {
          accountIds.add(last)
        }
      }
      return [...accountIds]
    },

    async pageStatuses({ accountId, limit, after }) {
      const page = await deviceStatuses
        .find(
          { ...REPORTED, accountId, ...(after !== undefined && { deviceId: { $gt: after } }) },
          READ,
        )
        .sort({ deviceId: 1 })
        .limit(limit)
        .toArray()
      return page.flatMap((document) => deviceStatusOf(document) ?? [])
    },

    async erasedUpTo({ accountId, deviceIds }) {
      const devices = deviceIds.map((deviceId) => ({ accountId, deviceId }))
      const stored = await storedDevices(deviceStatuses, devices)
      return new Map(
        Array.from(stored.values()).flatMap(({ deviceId, erased }) =>
          erased === undefined ? [] : [[deviceId, erased.upTo]],
        ),
      )
    },
  }
}

/**
 * Every record of an account's devices after `after`, up to and including `upTo`, in chunks;
 * without erased records that were written late.
 */
export async function* scanRecords(
  { positions, deviceStatuses }: ReadModelCollections,
  { accountId, after, upTo }: Parameters<Generation['scanRecords']>[0],
): AsyncGenerator<readonly PositionRecord[], void> {
  const bounds: { deviceId: { $gt: string } | { $lte: string } }[] = []
  if (after !== undefined) bounds.push({ deviceId: { $gt: after } })
  if (upTo !== undefined) bounds.push({ deviceId: { $lte: upTo } })
  const devices = { accountId, ...(bounds.length > 0 && { $and: bounds }) }
  try {
    const erased = new Map<string, Erased | undefined>()
    const erasedDevices = deviceStatuses
      .find({ ...devices, erased: { $exists: true } })
      .project<Pick<DeviceStatusDocument, 'deviceId' | 'erased'>>({ deviceId: 1, erased: 1 })
    for await (const device of erasedDevices) erased.set(device.deviceId, device.erased)

    let chunk: PositionRecord[] = []
    for await (const document of positions.find(devices, { batchSize: READ_AT_ONCE })) {
      const record = positionRecord(document)
      if (isErased(erased.get(record.deviceId), record)) continue
      chunk.push(record)
      if (chunk.length < READ_AT_ONCE) continue
      yield chunk
      chunk = []
    }
    if (chunk.length > 0) yield chunk
  } catch (error) {
    throw dependencyError(error)
  }
}

/** Takes one step along the index: listing distinct values would read all of it. */
function firstAccountAfter<T extends { readonly accountId: string }>(
  collection: Collection<T>,
  filter: Filter<T> = {},
) {
  return async (accountId: string): Promise<string | undefined> => {
    const later = { ...filter, accountId: { $gt: accountId } } as Filter<T>
    const next = await collection.findOne(later, { sort: { accountId: 1 }, ...READ })
    return next?.accountId
  }
}
