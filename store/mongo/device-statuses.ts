import { setTimeout as pause } from 'node:timers/promises'
import type { AnyBulkWriteOperation, FindCursor, WithId } from 'mongodb'
import { includes } from '../../event-log/offsets.ts'
import { DependencyError } from '../../runtime/errors.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { RepeatEntry } from '../../schemas/events/log-entry.ts'
import type { Change, Fold, PositionEntry, ReportEntry, SeenEntry } from '../read-models.ts'
import { READ, type DeviceStatusDocument, type ReadModelCollections } from './collections.ts'
import {
  deviceDocument,
  toStoredDevice,
  type DeviceName,
  type StoredDevice,
} from './device-documents.ts'
import { duplicatesOf } from './driver-errors.ts'
import { isEntryErased } from './erased.ts'

type DeviceStatuses = ReadModelCollections['deviceStatuses']
type Found = FindCursor<WithId<DeviceStatusDocument>>

export type OnConflict = (attempt: number) => void

const MOST_ATTEMPTS = 10
const LONGEST_PAUSE_MS = 200

/**
 * Folds the positions that count, repeats and heartbeats into the statuses of their devices.
 * Returns the changes, and the positions that precede an erasure of their device: they are not
 * folded, and the caller must remove their records.
 */
export async function foldStatuses(
  statuses: DeviceStatuses,
  entries: readonly ReportEntry[],
  {
    counting,
    fold,
    onConflict,
  }: { counting: ReadonlySet<PositionEntry>; fold: Fold; onConflict: OnConflict },
): Promise<{ readonly changes: readonly Change[]; readonly late: readonly PositionEntry[] }> {
  const late = new Set<PositionEntry>()
  const changes = new Map<string, Change>()
  const change = async (before: StoredDevice | undefined, own: readonly ReportEntry[]) => {
    let device = before
    const stored: PositionEntry[] = []
    const seen: SeenEntry[] = []
    const repeated: PositionEntry[] = []
    for (const entry of own) {
      const isSeen = entry.kind === 'seen'
      if (!isSeen && !counting.has(entry)) {
        repeated.push(entry)
        if (!isEntryErased(before?.erased, entry)) {
          device = foldOne(device, { ...entry, kind: 'repeat' }, fold)
        }
      } else if (isEntryErased(before?.erased, entry)) {
        if (!isSeen) late.add(entry)
      } else {
        const after = foldOne(device, entry, fold)
        if (after === device) continue
        if (isSeen) seen.push(entry)
        else stored.push(entry)
        device = after
      }
    }
    recordOutcome(changes, own, {
      before: before?.status,
      after: device?.status,
      stored,
      seen,
      repeated,
      erased: [],
    })
    return device
  }
  await changeDevices(statuses, entries, { change, onConflict })
  return { changes: [...changes.values()], late: [...late] }
}

/**
 * Records the outcome of a device's entries. After a write conflict everything is read again:
 * entries already written then show no change, but their recorded outcome remains.
 */
export function recordOutcome(
  changes: Map<string, Change>,
  [first]: readonly { readonly event: DeviceName }[],
  change: Omit<Change, 'accountId' | 'deviceId'>,
): void {
  if (first === undefined) return
  const { accountId, deviceId } = first.event
  const key = deviceKey(first.event)
  const isNews = change.stored.length + change.seen.length + change.erased.length > 0
  const isFirst = !changes.has(key) && change.repeated.length > 0
  if (isNews || isFirst) changes.set(key, { accountId, deviceId, ...change })
}

/** The first position after an erasure starts afresh, but retains `applied`. */
function foldOne(
  stored: StoredDevice | undefined,
  entry: ReportEntry | RepeatEntry,
  fold: Fold,
): StoredDevice | undefined {
  const { accountId, deviceId } = entry.event
  if (stored !== undefined && includes(stored.applied, entry.origin)) return stored
  const status = fold(stored?.status, entry)
  if (status === undefined || status === stored?.status) return stored
  const applied = { ...stored?.applied, ...status.applied }
  return { ...stored, accountId, deviceId, applied, status: { ...status, applied } }
}

/**
 * Changes the stored state of the entries' devices, one write per device, each only if the document
 * is unchanged since it was read. After a conflict everything is read and changed again, which has
 * no effect on documents already written. A change advances `applied`, or returns `stored`.
 * @throws {DependencyError} retriable when conflicts persist.
 */
export async function changeDevices<Entry extends { readonly event: DeviceName }>(
  statuses: DeviceStatuses,
  entries: readonly Entry[],
  {
    change,
    onConflict,
  }: {
    change: (
      stored: StoredDevice | undefined,
      entries: readonly Entry[],
    ) => Promise<StoredDevice | undefined>
    onConflict: OnConflict
  },
): Promise<void> {
  if (entries.length === 0) return
  const devices = groupByDevice(entries)
  const names = Array.from(devices.values(), (own) => own[0]!.event)
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    // Any index will do: if it misses a device because of a concurrent move in the index, the write
    // is a conflict, or there is nothing to write.
    const found = await readByKey(find(statuses, names))
    const writes: AnyBulkWriteOperation<DeviceStatusDocument>[] = []
    const absent: DeviceName[] = []
    for (const [key, own] of devices) {
      const before = found.get(key)
      const after = await change(before, own)
      if (after === undefined && before === undefined) absent.push(own[0]!.event)
      if (after !== undefined && after !== before) writes.push(write(before, after))
    }
    const missed = await storedDevices(statuses, absent)
    const written = writes.length === 0 || (await writeAll(statuses, writes))
    if (written && missed.size === 0) return
    onConflict(attempt)
    // The other process's write is readable only once a majority has it.
    await pause(Math.random() * Math.min(LONGEST_PAUSE_MS, 10 * 2 ** attempt))
  }
  throw new DependencyError('another projector keeps changing the device statuses', {
    retriable: true,
  })
}

/**
 * Reads the stored devices, by `accountId/deviceId`, through the index that covers all documents.
 */
export async function storedDevices(
  statuses: DeviceStatuses,
  devices: readonly DeviceName[],
): Promise<Map<string, StoredDevice>> {
  if (devices.length === 0) return new Map()
  return readByKey(find(statuses, devices).hint({ _id: 1 }))
}

function find(statuses: DeviceStatuses, devices: readonly DeviceName[]): Found {
  return statuses
    .find({
      _id: { $in: devices.map(deviceKey) },
      accountId: { $in: [...new Set(devices.map(({ accountId }) => accountId))] },
      deviceId: { $in: [...new Set(devices.map(({ deviceId }) => deviceId))] },
    })
    .maxTimeMS(READ.maxTimeMS)
}

async function readByKey(found: Found): Promise<Map<string, StoredDevice>> {
  const documents = await found.toArray()
  return new Map(documents.map((document) => [document._id, toStoredDevice(document)]))
}

/** Returns whether all writes succeeded. */
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

/**
 * Sub-documents are only equal with their fields in the same order. The keys of `applied` are
 * integers, which JavaScript always lists in ascending order.
 */
function write(
  before: StoredDevice | undefined,
  after: StoredDevice,
): AnyBulkWriteOperation<DeviceStatusDocument> {
  const replacement = deviceDocument(after)
  if (before === undefined) return { insertOne: { document: replacement } }
  const { accountId, deviceId, applied, removing = { $exists: false } } = before
  const filter = { _id: replacement._id, accountId, deviceId, applied, removing }
  return { replaceOne: { filter, replacement } }
}

function groupByDevice<Entry extends { readonly event: DeviceName }>(
  entries: readonly Entry[],
): Map<string, Entry[]> {
  const devices = new Map<string, Entry[]>()
  for (const entry of entries) {
    const key = deviceKey(entry.event)
    const others = devices.get(key)
    if (others === undefined) devices.set(key, [entry])
    else others.push(entry)
  }
  return devices
}
