import { setTimeout as pause } from 'node:timers/promises'
import type { AnyBulkWriteOperation } from 'mongodb'
import { DependencyError } from '../../runtime/errors.ts'
import { deviceKey } from '../../schemas/position-reported.ts'
import type { DeviceStatus } from '../../schemas/read-models.ts'
import type { ProjectionBatch } from '../store.ts'
import type { DeviceStatusDocument, ReadModelCollections } from './collections.ts'
import { duplicatesOf } from './driver-errors.ts'
import type { Entry } from './position-records.ts'

type DeviceStatuses = ReadModelCollections['deviceStatuses']
type Device = { readonly key: string; readonly entries: readonly Entry[] }

const MOST_ATTEMPTS = 10
const LONGEST_PAUSE_MS = 200

/**
 * Folds the entries into the statuses of their devices, one write a device, each only if nobody
 * else has written that status since it was read; then all is read and folded again, which changes
 * nothing where it had succeeded.
 * @throws {DependencyError} retriable when others keep getting in between.
 */
export async function foldStatuses(
  statuses: DeviceStatuses,
  entries: readonly Entry[],
  { fold, onConflict }: { fold: ProjectionBatch['fold']; onConflict: (attempt: number) => void },
): Promise<void> {
  const devices = byDevice(entries)
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const writes = await writesFor(statuses, devices, fold)
    if (writes.length === 0 || (await writeAll(statuses, writes))) return
    onConflict(attempt)
    // Time for a majority to have what the other one wrote: until then it cannot be read.
    await pause(Math.random() * Math.min(LONGEST_PAUSE_MS, 10 * 2 ** attempt))
  }
  throw new DependencyError('device statuses keep being changed by another projector', {
    retriable: true,
  })
}

async function writesFor(
  statuses: DeviceStatuses,
  devices: readonly Device[],
  fold: ProjectionBatch['fold'],
): Promise<AnyBulkWriteOperation<DeviceStatusDocument>[]> {
  const stored = await statusesOf(statuses, devices)
  return devices.flatMap(({ key, entries }) => {
    const before = stored.get(key)
    let after = before
    for (const entry of entries) after = fold(after, entry)
    if (after === undefined || after === before) return []
    return [before === undefined ? insertion(after) : replacement(before, after)]
  })
}

/** Whether every one of the writes happened. */
async function writeAll(
  statuses: DeviceStatuses,
  writes: AnyBulkWriteOperation<DeviceStatusDocument>[],
): Promise<boolean> {
  try {
    const { insertedCount, matchedCount } = await statuses.bulkWrite(writes, { ordered: false })
    return insertedCount + matchedCount === writes.length
  } catch (error) {
    if (duplicatesOf(error) === undefined) throw error
    return false
  }
}

function insertion(status: DeviceStatus): AnyBulkWriteOperation<DeviceStatusDocument> {
  return { insertOne: { document: statusDocument(status) } }
}

/**
 * Sub-documents are equal only when their fields stand in the same order. Those of `applied` are
 * numbers, which JavaScript always lists in ascending order, written and asked for alike.
 */
function replacement(
  before: DeviceStatus,
  after: DeviceStatus,
): AnyBulkWriteOperation<DeviceStatusDocument> {
  const { _id, accountId, deviceId, applied } = statusDocument(before)
  return {
    replaceOne: {
      filter: { _id, accountId, deviceId, applied },
      replacement: statusDocument(after),
    },
  }
}

async function statusesOf(
  statuses: DeviceStatuses,
  devices: readonly Device[],
): Promise<Map<string, DeviceStatus>> {
  const events = devices.flatMap(({ entries }) => entries.slice(0, 1)).map(({ event }) => event)
  const found = await statuses
    .find({
      _id: { $in: devices.map(({ key }) => key) },
      accountId: { $in: [...new Set(events.map(({ accountId }) => accountId))] },
      deviceId: { $in: events.map(({ deviceId }) => deviceId) },
    })
    .hint({ _id: 1 })
    .toArray()
  return new Map(found.map((document) => [document._id, deviceStatusOf(document)]))
}

function byDevice(entries: readonly Entry[]): Device[] {
  const devices = new Map<string, Entry[]>()
  for (const entry of entries) {
    const key = deviceKey(entry.event)
    const others = devices.get(key)
    if (others === undefined) devices.set(key, [entry])
    else others.push(entry)
  }
  return [...devices].map(([key, entries]) => ({ key, entries }))
}

function statusDocument(status: DeviceStatus): DeviceStatusDocument {
  const { lastPosition } = status
  return {
    ...status,
    _id: deviceKey(status),
    firstSeenAt: new Date(status.firstSeenAt),
    lastSeenAt: new Date(status.lastSeenAt),
    lastPosition: {
      ...lastPosition,
      timestamp: new Date(lastPosition.timestamp),
      receivedAt: new Date(lastPosition.receivedAt),
    },
  }
}

export function deviceStatusOf({ _id, ...document }: DeviceStatusDocument): DeviceStatus {
  const { lastPosition } = document
  return {
    ...document,
    firstSeenAt: document.firstSeenAt.getTime(),
    lastSeenAt: document.lastSeenAt.getTime(),
    lastPosition: {
      ...lastPosition,
      timestamp: lastPosition.timestamp.getTime(),
      receivedAt: lastPosition.receivedAt.getTime(),
    },
  }
}
