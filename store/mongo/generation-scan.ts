import type { Collection, Filter } from 'mongodb'
import type { PositionRecord } from '../../schemas/read-models.ts'
import type { Generation, OriginBounds } from '../store.ts'
import type { PositionDocument, ReadModelCollections } from './collections.ts'
import { deviceStatusOf } from './device-statuses.ts'
import { dependencyError } from './driver-errors.ts'
import { positionRecord } from './position-records.ts'

const READ_AT_ONCE = 1_000

type Scan = Pick<Generation, 'origins' | 'accounts' | 'pageStatuses'>

/** All that one generation holds, for comparing it with another. */
export function generationScan({ positions, deviceStatuses }: ReadModelCollections): Scan {
  return {
    // Read through rather than aggregated: one long command would meet the socket's time-out.
    async origins({ receivedSince }) {
      const found = new Map<number, OriginBounds>()
      const since = Number.isFinite(receivedSince)
        ? { receivedAt: { $gte: new Date(receivedSince) } }
        : {}
      const origins = positions
        .find(since, { batchSize: READ_AT_ONCE })
        .project<Pick<PositionDocument, 'origin'>>({ _id: 0, origin: 1 })
      for await (const { origin } of origins) {
        const { least, greatest } = found.get(origin.partition) ?? {
          least: origin.offset,
          greatest: origin.offset,
        }
        found.set(origin.partition, {
          least: Math.min(least, origin.offset),
          greatest: Math.max(greatest, origin.offset),
        })
      }
      return found
    },

    async accounts() {
      const found = new Set<string>()
      for (const nextAfter of [firstAccountAfter(positions), firstAccountAfter(deviceStatuses)]) {
        // No account's id is empty.
        for (let last = await nextAfter(''); last !== undefined; last = await nextAfter(last)) {
          found.add(last)
        }
      }
      return [...found]
    },

    async pageStatuses({ accountId, limit, after }) {
      const page = await deviceStatuses
        .find({ accountId, ...(after !== undefined && { deviceId: { $gt: after } }) })
        .sort({ deviceId: 1 })
        .limit(limit)
        .toArray()
      return page.map(deviceStatusOf)
    },
  }
}

/** Every record of an account's devices after `after`, up to and with `upTo`, in chunks. */
export async function* scanRecords(
  { positions }: Pick<ReadModelCollections, 'positions'>,
  { accountId, after, upTo }: Parameters<Generation['scanRecords']>[0],
): AsyncGenerator<readonly PositionRecord[], void> {
  const devices: Filter<PositionDocument>[] = []
  if (after !== undefined) devices.push({ deviceId: { $gt: after } })
  if (upTo !== undefined) devices.push({ deviceId: { $lte: upTo } })
  const filter = { accountId, ...(devices.length > 0 && { $and: devices }) }
  try {
    let chunk: PositionDocument[] = []
    for await (const document of positions.find(filter, { batchSize: READ_AT_ONCE })) {
      chunk.push(document)
      if (chunk.length < READ_AT_ONCE) continue
      yield chunk.map(positionRecord)
      chunk = []
    }
    if (chunk.length > 0) yield chunk.map(positionRecord)
  } catch (error) {
    throw dependencyError(error)
  }
}

/** One step along the index: a list of distinct values would read all of it. */
function firstAccountAfter<T extends { readonly accountId: string }>(collection: Collection<T>) {
  return async (accountId: string): Promise<string | undefined> => {
    const later = { accountId: { $gt: accountId } } as Filter<T>
    const next = await collection.findOne(later, { sort: { accountId: 1 } })
    return next?.accountId
  }
}
