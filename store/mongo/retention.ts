import type { Collection, Filter } from 'mongodb'
import type {
  Collections,
  DeviceStatusDocument,
  PositionDocument,
  ReadModelCollections,
} from './collections.ts'

const TTL_INDEX = 'received_at'
const DAY_SECONDS = 24 * 60 * 60
const REMOVED_AT_ONCE = 1_000

/**
 * What of the read models is still to be seen. The server removes expired records once a minute at
 * best, so every query leaves them out by itself; and so it does with devices not seen since.
 */
export type Kept = {
  readonly positions: Filter<PositionDocument>
  readonly deviceStatuses: Filter<DeviceStatusDocument>
}

export function keptAt(now: number, retentionDays: number | undefined): Kept {
  if (retentionDays === undefined) return { positions: {}, deviceStatuses: {} }
  const since = new Date(now - retentionDays * DAY_SECONDS * 1_000)
  return {
    positions: { receivedAt: { $gte: since } },
    deviceStatuses: { lastSeenAt: { $gte: since } },
  }
}

/** Has the server remove records of themselves, by the time they were received; or no longer. */
export async function setRetention(
  { positions }: Pick<ReadModelCollections, 'positions'>,
  retentionDays: number | undefined,
): Promise<void> {
  const expireAfterSeconds = await timeToLive(positions)
  const wanted = retentionDays === undefined ? undefined : Math.round(retentionDays * DAY_SECONDS)
  if (wanted === expireAfterSeconds) return
  if (wanted === undefined) {
    await positions.dropIndex(TTL_INDEX)
  } else if (expireAfterSeconds === undefined) {
    await positions.createIndex({ receivedAt: 1 }, { name: TTL_INDEX, expireAfterSeconds: wanted })
  } else {
    // In place: building the index anew would read the whole collection.
    await positions.db.command({
      collMod: positions.collectionName,
      index: { name: TTL_INDEX, expireAfterSeconds: wanted },
    })
  }
}

async function timeToLive(positions: Collection<PositionDocument>): Promise<number | undefined> {
  const indexes = await positions.listIndexes().toArray()
  const index = indexes.find(({ name }) => name === TTL_INDEX) as
    { expireAfterSeconds?: number } | undefined
  return index?.expireAfterSeconds
}

/**
 * Removes records received before a time, and devices not seen since with what was said of them.
 * A device that reports meanwhile stays.
 */
export async function removeExpired(
  { positions, deviceStatuses }: ReadModelCollections,
  { deviceSettings }: Pick<Collections, 'deviceSettings'>,
  receivedBefore: number,
): Promise<void> {
  const receivedAt = { $lt: new Date(receivedBefore) }
  await inChunks(positions, { receivedAt }, async (names) => {
    await positions.deleteMany({
      _id: { $in: names.map(({ _id }) => _id) },
      accountId: { $in: [...new Set(names.map(({ accountId }) => accountId))] },
      deviceId: { $in: [...new Set(names.map(({ deviceId }) => deviceId))] },
      receivedAt,
    })
  })
  const lastSeenAt = receivedAt
  await inChunks(deviceStatuses, { lastSeenAt }, async (names) => {
    for (const { _id, accountId, deviceId } of names) {
      const silent = { _id, accountId, deviceId, lastSeenAt }
      const { deletedCount } = await deviceStatuses.deleteOne(silent)
      if (deletedCount === 1) await deviceSettings.deleteOne({ _id })
    }
  })
}

type Name = { readonly _id: string; readonly accountId: string; readonly deviceId: string }

async function inChunks<T extends Name>(
  collection: Collection<T>,
  filter: Filter<T>,
  remove: (names: readonly Name[]) => Promise<void>,
): Promise<void> {
  let names: Name[] = []
  for await (const name of collection.find(filter).project<Name>({ accountId: 1, deviceId: 1 })) {
    names.push(name)
    if (names.length === REMOVED_AT_ONCE) {
      await remove(names)
      names = []
    }
  }
  if (names.length > 0) await remove(names)
}
