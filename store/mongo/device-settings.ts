import type { Collection } from 'mongodb'
import { sortedLabels } from '../../schemas/labels.ts'
import { deviceKey } from '../../schemas/position-reported.ts'
import type { DeviceSettings } from '../../schemas/read-models.ts'
import type { DeviceInterval, Devices } from '../read-models.ts'
import { namedValues } from './changes.ts'
import { READ, type DeviceSettingsDocument } from './collections.ts'
import { isDuplicateKey } from './driver-errors.ts'

const READ_WITHIN_MS = 5_000
const INTERVALS_AT_ONCE = 1_000

/** The settings of a device that operators have not changed. */
export const DEFAULT_SETTINGS: DeviceSettings = { disabled: false }

export function mongoDeviceSettings({
  deviceSettings,
}: {
  deviceSettings: Collection<DeviceSettingsDocument>
}): Pick<Devices, 'devicesWithInterval' | 'changeDeviceSettings' | 'forgetDeviceSettings'> {
  return {
    devicesWithInterval: (accountId) =>
      deviceSettings
        .find({ accountId, expectedIntervalSeconds: { $exists: true } }, READ)
        .project<DeviceInterval>({ _id: 0, deviceId: 1, expectedIntervalSeconds: 1 })
        // Larger answers would be decoded in one turn of the event loop.
        .batchSize(INTERVALS_AT_ONCE)
        .toArray(),

    async changeDeviceSettings(change) {
      try {
        return await changeSettings(deviceSettings, change)
      } catch (error) {
        // Two concurrent first changes of a device: the other one has created the document.
        if (!isDuplicateKey(error)) throw error
        return changeSettings(deviceSettings, change)
      }
    },

    async forgetDeviceSettings({ accountId, deviceId, changedUpTo }) {
      await deviceSettings.deleteOne({
        _id: deviceKey({ accountId, deviceId }),
        accountId,
        deviceId,
        $or: [{ changedAt: { $exists: false } }, { changedAt: { $lte: new Date(changedUpTo) } }],
      })
    },
  }
}

/** The ids of the account's disabled devices. */
export async function disabledDevices(
  deviceSettings: Collection<DeviceSettingsDocument>,
  accountId: string,
): Promise<string[]> {
  const found = await deviceSettings
    .find({ accountId, disabled: true }, { maxTimeMS: READ_WITHIN_MS })
    .project<{ deviceId: string }>({ _id: 0, deviceId: 1 })
    .toArray()
  return found.map(({ deviceId }) => deviceId)
}

export function settingsOf(document: DeviceSettingsDocument | null | undefined): DeviceSettings {
  if (document === null || document === undefined) return DEFAULT_SETTINGS
  const { name, disabled, expectedIntervalSeconds, labels } = document
  return {
    ...(name !== undefined && { name }),
    disabled,
    ...(expectedIntervalSeconds !== undefined && { expectedIntervalSeconds }),
    ...(labels !== undefined && { labels }),
  }
}

type Change = Parameters<Devices['changeDeviceSettings']>[0]

async function changeSettings(
  deviceSettings: Collection<DeviceSettingsDocument>,
  { accountId, deviceId, changedAt, disabled, labels, ...values }: Change,
): Promise<DeviceSettings> {
  const stored = labels?.length === 0 ? null : labels && sortedLabels(labels)
  const { $set, $unset } = namedValues({ ...values, disabled, labels: stored })
  const $setOnInsert = { accountId, deviceId, ...(disabled === undefined && DEFAULT_SETTINGS) }
  const document = await deviceSettings.findOneAndUpdate(
    { _id: deviceKey({ accountId, deviceId }) },
    { $set, $unset, $setOnInsert, $max: { changedAt: new Date(changedAt) } },
    { upsert: true, returnDocument: 'after' },
  )
  return settingsOf(document)
}
