import { randomUUID } from 'node:crypto'
import type { Collection, Filter } from 'mongodb'
import type { DeviceErased } from '../../schemas/device-erased.ts'
import { deviceKey } from '../../schemas/position-reported.ts'
import type { Erasures, Lives } from '../read-models.ts'
import { READ, type DeviceSettingsDocument } from './collections.ts'
import { isDuplicateKey } from './driver-errors.ts'

// In the documents of the settings: one update compares the life and changes the rest.

type Settings = Collection<DeviceSettingsDocument>

/** Removes all settings but `disabled`, which every document has. */
export const NO_SETTINGS = { name: true, expectedIntervalSeconds: true, labels: true } as const

/** Matches a document that a change of this life may change. */
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

/** Removes the settings of an erased device; changes that belong to its life before are refused. */
export async function beginLife(
  deviceSettings: Settings,
  { accountId, deviceId, erasedAt }: DeviceErased,
): Promise<void> {
  const begin = () =>
    deviceSettings.updateOne(
      { _id: deviceKey({ accountId, deviceId }) },
      {
        $set: { disabled: false, life: randomUUID() },
        $unset: NO_SETTINGS,
        // Later than the erasure: a delivery of its event in the future leaves what is set from now on.
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

/** Forgets the lives of devices erased before a time, of which nothing is set. */
export async function removeLives(deviceSettings: Settings, erasedBefore: Date): Promise<void> {
  const nothing = Object.keys(NO_SETTINGS).map((name) => ({ [name]: { $exists: false } }))
  await deviceSettings.deleteMany({
    life: { $exists: true },
    changedAt: { $lt: erasedBefore },
    disabled: false,
    $and: nothing,
  })
}
