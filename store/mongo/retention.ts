import type { Collection, Filter } from 'mongodb'
import {
  ERASURES_KEPT_LONGER_MS,
  LIVES_KEPT_LONGER_MS,
  settleRetention,
  type WantedRetention,
} from '../retention.ts'
import {
  READ,
  type Collections,
  type DeviceStatusDocument,
  type PositionDocument,
  type ReadModelCollections,
} from './collections.ts'
import { removeLives } from './hidden-devices.ts'
import { expireSettings } from './device-settings.ts'
import { cacheResult } from './mongo-client.ts'

const TTL_INDEX = 'received_at'
/** The time within which another process notices a change; the server itself takes a minute. */
const FOLLOWED_WITHIN_MS = 5_000
const DAY_SECONDS = 24 * 60 * 60
const REMOVED_AT_ONCE = 200
const REPORT_FIELDS = {
  firstSeenAt: true,
  lastSeenAt: true,
  lastReceivedAt: true,
  lastReceivedId: true,
  lastKeyAt: true,
  lastKeyEventId: true,
  lastKeyId: true,
  reportCount: true,
  lastPosition: true,
  heartbeats: true,
  readings: true,
} as const

/** Matches devices with more data than a tombstone. */
export const REPORTED: Filter<DeviceStatusDocument> = { lastPosition: { $exists: true } }

/**
 * Filters for data visible under the retention. The server removes expired records once a minute at
 * best, so every query filters them out; likewise devices from which nothing was received since.
 */
export type Kept = {
  readonly positions: Filter<PositionDocument>
  readonly deviceStatuses: Filter<DeviceStatusDocument>
}

export function retentionAt(now: number, retentionDays: number | undefined): Kept {
  if (retentionDays === undefined) return { positions: {}, deviceStatuses: REPORTED }
  const since = new Date(now - retentionDays * DAY_SECONDS * 1_000)
  return {
    positions: { receivedAt: { $gte: since } },
    deviceStatuses: { ...REPORTED, lastReceivedAt: { $gte: since } },
  }
}

/** The retention set in the store, by any process. */
export function followRetention(
  readModels: () => Promise<Pick<ReadModelCollections, 'positions'>>,
): () => Promise<number | undefined> {
  return cacheResult(
    async () => {
      const seconds = await timeToLive((await readModels()).positions)
      return seconds && seconds / DAY_SECONDS
    },
    { forMs: FOLLOWED_WITHIN_MS },
  )
}

/**
 * Makes the server remove records by their time of receipt; `off` ends that. The index of a large
 * collection is still being built when this resolves; `onFailure` gets its errors.
 * @throws {DependencyError} not retriable if no retention is configured but the store has one.
 */
export async function claimRetention(
  { positions }: Pick<ReadModelCollections, 'positions'>,
  wanted: WantedRetention,
  onFailure: (error: unknown) => void,
): Promise<void> {
  // Changes nothing, but shows whether the database user has the permission.
  await positions.db.command({ collMod: positions.collectionName })
  const seconds = await timeToLive(positions)
  const days = settleRetention(wanted, seconds && seconds / DAY_SECONDS)
  const setting = setTimeToLive(positions, days && Math.round(days * DAY_SECONDS))
  if (seconds !== undefined) return setting
  setting.catch(onFailure)
}

/** Gives a generation the record expiry of the previous one. */
export async function inheritRetention(
  { positions }: Pick<ReadModelCollections, 'positions'>,
  from: Pick<ReadModelCollections, 'positions'>,
): Promise<void> {
  const [exists] = await from.positions.db
    .listCollections({ name: from.positions.collectionName })
    .toArray()
  if (exists !== undefined) await setTimeToLive(positions, await timeToLive(from.positions))
}

async function setTimeToLive(
  positions: Collection<PositionDocument>,
  wanted: number | undefined,
): Promise<void> {
  const expireAfterSeconds = await timeToLive(positions)
  if (wanted === expireAfterSeconds) return
  if (wanted === undefined) {
    await positions.dropIndex(TTL_INDEX)
  } else if (expireAfterSeconds === undefined) {
    await positions.createIndex({ receivedAt: 1 }, { name: TTL_INDEX, expireAfterSeconds: wanted })
  } else {
    // Changed in place: rebuilding the index would read the whole collection.
    await positions.db.command({
      collMod: positions.collectionName,
      index: { name: TTL_INDEX, expireAfterSeconds: wanted },
    })
  }
}

async function timeToLive(positions: Collection<PositionDocument>): Promise<number | undefined> {
  const indexes = await positions.listIndexes(READ).toArray()
  const index = indexes.find(({ name }) => name === TTL_INDEX) as
    { expireAfterSeconds?: number } | undefined
  return index?.expireAfterSeconds
}

/**
 * Removes records received before a time, and devices from which nothing was received since one,
 * with their settings. A device that reports in the meantime remains. Tombstones of erased devices
 * are removed once their events have left the log too. Stops between two steps when `signal` is
 * aborted.
 */
export async function removeExpired(
  { positions, deviceStatuses }: ReadModelCollections,
  { deviceSettings, hiddenDevices }: Pick<Collections, 'deviceSettings' | 'hiddenDevices'>,
  {
    receivedBefore,
    seenBefore,
    signal,
  }: { receivedBefore: number; seenBefore: number; signal: AbortSignal | undefined },
): Promise<void> {
  const ended = () => signal?.aborted === true
  const old = { $lt: new Date(receivedBefore) }
  const silent = { $lt: new Date(seenBefore) }
  const forgotten = { $lt: new Date(seenBefore - ERASURES_KEPT_LONGER_MS) }
  const notErasedSince = { $or: [{ erasedAt: { $exists: false } }, { erasedAt: forgotten }] }
  await removeInChunks(positions, { receivedAt: old }, ended, async (names) => {
    await positions.deleteMany({
      _id: { $in: names.map(({ _id }) => _id) },
      accountId: { $in: [...new Set(names.map(({ accountId }) => accountId))] },
      deviceId: { $in: [...new Set(names.map(({ deviceId }) => deviceId))] },
      receivedAt: old,
    })
  })
  if (ended()) return
  // Before the documents with the applied erasures, or devices would be hidden again.
  await hiddenDevices.deleteMany({ erasedAt: silent })
  await removeInChunks(deviceStatuses, { lastReceivedAt: silent }, ended, async (names) => {
    for (const { _id, accountId, deviceId } of names) {
      const device = { _id, accountId, deviceId, lastReceivedAt: silent }
      const isGone =
        (await deviceStatuses.deleteOne({ ...device, ...notErasedSince })).deletedCount === 1 ||
        (await deviceStatuses.updateOne(device, { $unset: REPORT_FIELDS })).modifiedCount === 1
      if (isGone) await expireSettings(deviceSettings, _id)
    }
  })
  if (ended()) return
  await deviceStatuses.updateMany(
    { ...REPORTED, erasedAt: forgotten },
    { $unset: { erased: true, erasedAt: true } },
  )
  await removeLives(deviceSettings, new Date(seenBefore - LIVES_KEPT_LONGER_MS))
  const leftovers = { lastPosition: { $exists: false }, erasedAt: forgotten }
  await removeInChunks(deviceStatuses, leftovers, ended, async (names) => {
    await deviceStatuses.deleteMany({
      ...leftovers,
      _id: { $in: names.map(({ _id }) => _id) },
      accountId: { $in: [...new Set(names.map(({ accountId }) => accountId))] },
    })
  })
}

type Name = { readonly _id: string; readonly accountId: string; readonly deviceId: string }

async function removeInChunks<T extends Name>(
  collection: Collection<T>,
  filter: Filter<T>,
  ended: () => boolean,
  remove: (names: readonly Name[]) => Promise<void>,
): Promise<void> {
  let names: Name[] = []
  for await (const name of collection.find(filter).project<Name>({ accountId: 1, deviceId: 1 })) {
    if (ended()) return
    names.push(name)
    if (names.length === REMOVED_AT_ONCE) {
      await remove(names)
      names = []
    }
  }
  if (names.length > 0) await remove(names)
}
