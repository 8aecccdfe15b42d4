import { hasReached, includes } from '../../event-log/offsets.ts'
import { deviceKey } from '../../schemas/position-reported.ts'
import type { DeviceStatus, Offsets } from '../../schemas/read-models.ts'
import type { Change, ErasureEntry, ProjectionBatch } from '../read-models.ts'
import type { Erased, ReadModelCollections } from './collections.ts'
import type { DeviceName, StoredDevice } from './device-documents.ts'
import { changeDevices, tell, type OnConflict } from './device-statuses.ts'
import { erasedRecords, withErasure } from './erased.ts'
import { positionRecord } from './position-documents.ts'

type Fold = ProjectionBatch['fold']

const LOOKED_AT_AT_ONCE = 1_000

/**
 * Applies erasures of one partition: first to the devices' status documents, which keep what is
 * erased, so that nothing of before can come back; then to the records, also where the documents
 * say so already, because the one who wrote them may have died before. Gives what changed, and what
 * is erased of each device, by `accountId/deviceId`.
 */
export async function eraseDevices(
  readModels: ReadModelCollections,
  entries: readonly ErasureEntry[],
  { fold, onConflict }: { fold: Fold; onConflict: OnConflict },
): Promise<{ readonly changes: readonly Change[]; readonly erased: ReadonlyMap<string, Erased> }> {
  const changes = new Map<string, Change>()
  const devices = new Map<string, { readonly name: DeviceName; readonly erased: Erased }>()
  const change = async (stored: StoredDevice | undefined, own: readonly ErasureEntry[]) => {
    let erased = stored?.erased
    const applied: Record<number, number> = { ...stored?.applied }
    const fresh: ErasureEntry[] = []
    for (const entry of own) {
      const { partition, offset } = entry.origin
      const next: Erased = withErasure(erased, entry)
      if (next !== erased && !includes(applied, entry.origin)) {
        applied[partition] = offset
        fresh.push(entry)
      }
      erased = next
    }
    const name = stored ?? own[0]?.event
    if (name === undefined || erased === undefined) return stored
    const { accountId, deviceId } = name
    devices.set(deviceKey(name), { name: { accountId, deviceId }, erased })
    const repeated = own.filter((entry) => !fresh.includes(entry))
    if (fresh.length === 0) {
      tell(changes, own, {
        ...{ before: stored?.status, after: stored?.status },
        ...{ stored: [], repeated, erased: [] },
      })
      return stored
    }
    const status = await statusBehind(readModels, stored, { erased, fold })
    const after = status && { ...status, applied }
    tell(changes, own, { before: stored?.status, after, stored: [], repeated, erased: fresh })
    return {
      accountId,
      deviceId,
      applied,
      erased,
      ...(after !== undefined && { status: after }),
    }
  }
  await changeDevices(readModels.deviceStatuses, entries, { change, onConflict })
  for (const { name, erased } of devices.values()) {
    await removeErased(readModels.positions, name, erased)
  }
  return {
    changes: [...changes.values()],
    erased: new Map(Array.from(devices, ([key, { erased }]) => [key, erased])),
  }
}

/**
 * What was folded and still stands behind the erasure: a device that came from another partition
 * may have reported there, as the times tell, after it was erased here.
 */
async function statusBehind(
  { positions }: ReadModelCollections,
  stored: StoredDevice | undefined,
  { erased, fold }: { erased: Erased; fold: Fold },
): Promise<DeviceStatus | undefined> {
  if (stored === undefined || !reportedElsewhere(stored.applied, erased)) return undefined
  const { accountId, deviceId, applied } = stored
  const left = await positions.find({ accountId, deviceId, $nor: erasedRecords(erased) }).toArray()
  return left
    .map(positionRecord)
    .filter(({ origin }) => includes(applied, origin))
    .sort((a, b) => a.origin.partition - b.origin.partition || a.origin.offset - b.origin.offset)
    .reduce<DeviceStatus | undefined>(
      (status, { origin, ...event }) => fold(status, { kind: 'position', origin, event }),
      undefined,
    )
}

function reportedElsewhere(applied: Offsets, { upTo }: Erased): boolean {
  return !hasReached(upTo, applied)
}

/**
 * In steps along the index of its history, because a device may have reported for years. Of what is
 * written late into a part that is done, its own writer takes care.
 */
async function removeErased(
  positions: ReadModelCollections['positions'],
  { accountId, deviceId }: DeviceName,
  erased: Erased,
): Promise<void> {
  const device = { accountId, deviceId }
  // No report is of a time before that.
  let isLast = false
  for (let from = new Date(0); !isLast;) {
    const last = await positions.findOne(
      { ...device, timestamp: { $gt: from } },
      {
        sort: { timestamp: 1, _id: 1 },
        skip: LOOKED_AT_AT_ONCE - 1,
        projection: { timestamp: 1 },
      },
    )
    const upTo = last === null ? {} : { $lte: last.timestamp }
    await positions.deleteMany({
      ...device,
      timestamp: { $gt: from, ...upTo },
      $or: erasedRecords(erased),
    })
    isLast = last === null
    from = last?.timestamp ?? from
  }
}
