import { randomUUID } from 'node:crypto'
import type { Collection, Filter } from 'mongodb'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { DeviceErased } from '../../schemas/events/device-erased.ts'
import type { Erasures, Lives } from '../read-models.ts'
import {
  READ,
  type Collections,
  type DeviceStatusDocument,
  type Erased,
  type HiddenDeviceDocument,
  type ReadModelCollections,
  type DeviceSettingsDocument,
} from './collections.ts'
import { isDuplicateKey } from './driver-errors.ts'
import { isApplied } from './erased.ts'

type Sources = Pick<Collections, 'hiddenDevices'> & Pick<ReadModelCollections, 'deviceStatuses'>

/** Limits a sweep, so that many concurrent erasures do not slow each other down. */
const SWEPT_AT_ONCE = 500

/**
 * Finds the devices, among the given ones or in the whole account, with an erasure that the read
 * models have not applied, and the time of the newest erasure. Readers must check here before they
 * read a device's status document: an erasure missing here has been applied there.
 */
export async function pendingErasures(
  { hiddenDevices, deviceStatuses }: Sources,
  { accountId, deviceIds }: { accountId: string; deviceIds?: readonly string[] },
): Promise<ReadonlyMap<string, Date>> {
  const rows = await hiddenDevices
    .find(
      { accountId, ...(deviceIds !== undefined && { deviceId: { $in: [...deviceIds] } }) },
      READ,
    )
    .toArray()
  const applied = await appliedOf(deviceStatuses, rows)
  const pending = new Map<string, Date>()
  for (const { _id, deviceId, erasedAt } of rows) {
    if (!applied.has(_id) && erasedAt >= (pending.get(deviceId) ?? erasedAt)) {
      pending.set(deviceId, erasedAt)
    }
  }
  return pending
}

/** Hides a device, and removes its account's applied erasures if allowed. */
export async function hideDevice(
  sources: Sources,
  erasure: DeviceErased,
  mayForget: () => Promise<boolean>,
): Promise<void> {
  const { eventId, accountId, deviceId, erasedAt } = erasure
  try {
    const row = { _id: eventId, accountId, deviceId, erasedAt: new Date(erasedAt) }
    await sources.hiddenDevices.insertOne(row)
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
  const oldest = sources.hiddenDevices
    .find({ accountId }, READ)
    .sort({ _id: 1 })
    .limit(SWEPT_AT_ONCE)
  await sweep(sources, await oldest.toArray(), mayForget)
}

/**
 * Removes every applied erasure. Call this before other read models become current: if their log
 * no longer has an old erasure, its device would stay hidden forever.
 */
export async function sweepApplied(sources: Sources): Promise<void> {
  let rows: HiddenDeviceDocument[] = []
  for await (const row of sources.hiddenDevices.find()) {
    rows.push(row)
    if (rows.length < SWEPT_AT_ONCE) continue
    await sweep(sources, rows)
    rows = []
  }
  await sweep(sources, rows)
}

async function sweep(
  { hiddenDevices, deviceStatuses }: Sources,
  rows: readonly HiddenDeviceDocument[],
  mayForget: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<void> {
  const applied = await appliedOf(deviceStatuses, rows)
  // Checked after reading the applied erasures: a rebuild that starts later gets all of them.
  if (applied.size > 0 && (await mayForget()))
    await hiddenDevices.deleteMany({ _id: { $in: [...applied] } })
}

async function appliedOf(
  deviceStatuses: Sources['deviceStatuses'],
  rows: readonly HiddenDeviceDocument[],
): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set()
  const found = await deviceStatuses
    .find({
      _id: { $in: rows.map(deviceKey) },
      accountId: { $in: [...new Set(rows.map(({ accountId }) => accountId))] },
    })
    .project<Pick<DeviceStatusDocument, '_id' | 'erased'>>({ erased: 1 })
    .maxTimeMS(READ.maxTimeMS)
    .toArray()
  const erased = new Map<string, Erased | undefined>(found.map((one) => [one._id, one.erased]))
  const applied = rows.filter((row) => isApplied(erased.get(deviceKey(row)), row._id))
  return new Set(applied.map(({ _id }) => _id))
}

// In the documents of the settings: one update compares the life and changes the rest.

type Settings = Collection<DeviceSettingsDocument>

/** Removes all settings but `disabled`, which every document has. */
export const NO_SETTINGS = { name: true, expectedIntervalSeconds: true, labels: true } as const

/** Part of each change, so that followers of the settings number it. */
export const UNNUMBERED = { version: true } as const

/** Matches a document that a change of this life may modify. */
export function sameLife(life: string | undefined): Filter<DeviceSettingsDocument> {
  // `null` matches absence, as `isSameLife` does.
  const matching = life === undefined ? { $exists: false } : { $in: [life, null] }
  return { life: matching } as Filter<DeviceSettingsDocument>
}

export async function livesOf(
  deviceSettings: Settings,
  { accountId, deviceIds }: Parameters<Erasures['livesOf']>[0],
): Promise<Lives> {
  const _id = { $in: deviceIds.map((deviceId) => deviceKey({ accountId, deviceId })) }
  const documents = await deviceSettings
    .find({ _id, life: { $exists: true } }, READ)
    .project<{ deviceId: string; life: string }>({ _id: 0, deviceId: 1, life: 1 })
    .toArray()
  return new Map(documents.map(({ deviceId, life }) => [deviceId, life]))
}

/**
 * Removes the settings of an erased device; changes that belong to its previous life are rejected.
 */
export async function beginLife(
  deviceSettings: Settings,
  { accountId, deviceId, erasedAt }: DeviceErased,
): Promise<void> {
  const begin = () =>
    deviceSettings.updateOne(
      { _id: deviceKey({ accountId, deviceId }) },
      {
        $set: { disabled: false, life: randomUUID() },
        $unset: { ...NO_SETTINGS, ...UNNUMBERED, enabledAt: true },
        // Later than the erasure, so that a redelivery of its event does not remove settings made
        // from now on.
        $max: { changedAt: new Date(erasedAt + 1) },
        $setOnInsert: { accountId, deviceId },
      },
      { upsert: true },
    )
  try {
    await begin()
  } catch (error) {
    // Another call has created the document.
    if (!isDuplicateKey(error)) throw error
    await begin()
  }
}

/** Forgets the lives of devices erased before a time, if nothing is set for them. */
export async function removeLives(deviceSettings: Settings, erasedBefore: Date): Promise<void> {
  const nothing = Object.keys(NO_SETTINGS).map((name) => ({ [name]: { $exists: false } }))
  await deviceSettings.deleteMany({
    life: { $exists: true },
    changedAt: { $lt: erasedBefore },
    disabled: false,
    $and: nothing,
  })
}
