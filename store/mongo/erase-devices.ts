import { randomUUID } from 'node:crypto'
import { hasReached, includes } from '../../event-log/offsets.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import {
  copyHeartbeats,
  type DeviceStatus,
  type Offsets,
} from '../../schemas/devices/read-models.ts'
import type { Change, ErasureEntry, Fold } from '../read-models.ts'
import type { Erased, ReadModelCollections } from './collections.ts'
import type { DeviceName, StoredDevice } from './device-documents.ts'
import { changeDevices, recordOutcome, type OnConflict } from './device-statuses.ts'
import { erasedRecordFilters, isErased, addErasure } from './erased.ts'
import { positionRecord } from './position-documents.ts'

/**
 * Applies erasures of one partition to the devices' status documents. These retain the erasures, so
 * that nothing older is read or can come back, and are marked until the records are removed.
 * Returns the changes, and each device's erasures by `accountId/deviceId`.
 */
export async function eraseDevices(
  readModels: ReadModelCollections,
  entries: readonly ErasureEntry[],
  { fold, onConflict }: { fold: Fold; onConflict: OnConflict },
): Promise<{ readonly changes: readonly Change[]; readonly erased: ReadonlyMap<string, Erased> }> {
  const changes = new Map<string, Change>()
  const devices = new Map<string, Erased>()
  const removing = randomUUID()
  const change = async (stored: StoredDevice | undefined, own: readonly ErasureEntry[]) => {
    let erased = stored?.erased
    const applied: Record<number, number> = { ...stored?.applied }
    const fresh: ErasureEntry[] = []
    for (const entry of own) {
      const { partition, offset } = entry.origin
      const next: Erased = addErasure(erased, entry)
      if (next !== erased && !includes(applied, entry.origin)) {
        applied[partition] = offset
        fresh.push(entry)
      }
      erased = next
    }
    const name = stored ?? own[0]?.event
    if (name === undefined || erased === undefined) return stored
    const { accountId, deviceId } = name
    devices.set(deviceKey(name), erased)
    const repeated = own.filter((entry) => !fresh.includes(entry))
    if (fresh.length === 0) {
      recordOutcome(changes, own, {
        before: stored?.status,
        after: stored?.status,
        stored: [],
        seen: [],
        repeated,
        erased: [],
      })
      return stored
    }
    const status = await findStatusAfterErasure(readModels, stored, { erased, fold })
    const after = status && { ...status, applied }
    recordOutcome(changes, own, {
      before: stored?.status,
      after,
      stored: [],
      seen: [],
      repeated,
      erased: fresh,
    })
    return {
      accountId,
      deviceId,
      applied,
      erased,
      removing,
      ...(after !== undefined && { status: after }),
    }
  }
  await changeDevices(readModels.deviceStatuses, entries, { change, onConflict })
  const isRepeat = ({ repeated, erased }: Change) => erased.length === 0 && repeated.length > 0
  await markAgain(readModels.deviceStatuses, [...changes.values()].filter(isRepeat), removing)
  return { changes: [...changes.values()], erased: devices }
}

/**
 * The status from reports after the erasure: a device moved here from another partition may have
 * reported there after this erasure, as the times show.
 */
async function findStatusAfterErasure(
  { positions }: ReadModelCollections,
  stored: StoredDevice | undefined,
  { erased, fold }: { erased: Erased; fold: Fold },
): Promise<DeviceStatus | undefined> {
  if (stored === undefined || !hasReportedElsewhere(stored.applied, erased)) return undefined
  const { accountId, deviceId, applied } = stored
  const left = await positions
    .find({ accountId, deviceId, $nor: erasedRecordFilters(erased) })
    .toArray()
  const status = left
    .map(positionRecord)
    .filter(({ origin }) => includes(applied, origin))
    .sort((a, b) => a.origin.partition - b.origin.partition || a.origin.offset - b.origin.offset)
    .reduce<DeviceStatus | undefined>(
      (status, { origin, ...event }) => fold(status, { kind: 'position', origin, event }),
      undefined,
    )
  return status && copyHeartbeats(stored.status, status, (heartbeat) => isErased(erased, heartbeat))
}

function hasReportedElsewhere(applied: Offsets, { upTo }: Erased): boolean {
  return !hasReached(upTo, applied)
}

/** Marks the device of a redelivered erasure, so that its records are searched for again. */
async function markAgain(
  statuses: ReadModelCollections['deviceStatuses'],
  devices: readonly DeviceName[],
  removing: string,
): Promise<void> {
  if (devices.length === 0) return
  await statuses.updateMany(
    {
      _id: { $in: devices.map(deviceKey) },
      accountId: { $in: [...new Set(devices.map(({ accountId }) => accountId))] },
      deviceId: { $in: [...new Set(devices.map(({ deviceId }) => deviceId))] },
    },
    { $set: { removing } },
  )
}
