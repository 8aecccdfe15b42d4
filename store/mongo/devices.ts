import type { Collection } from 'mongodb'
import { deviceKey } from '../../schemas/position-reported.ts'
import type { DeviceSettings } from '../../schemas/read-models.ts'
import type { Devices } from '../store.ts'
import type { Collections, DeviceSettingsDocument, ReadModelCollections } from './collections.ts'
import { deviceStatusOf } from './device-statuses.ts'
import { isDuplicateKey } from './driver-errors.ts'
import type { Kept } from './retention.ts'

/** What holds for a device of which operators have said nothing. */
const DEFAULT_SETTINGS: DeviceSettings = { disabled: false }

export function mongoDevices({
  collections: { deviceSettings },
  readModels,
  kept,
}: {
  collections: Collections
  readModels: () => Promise<ReadModelCollections>
  kept: () => Kept
}): Devices {
  return {
    async findDevice({ accountId, deviceId }) {
      const _id = deviceKey({ accountId, deviceId })
      const { deviceStatuses } = await readModels()
      const [status, settings] = await Promise.all([
        deviceStatuses.findOne({
          ...kept().deviceStatuses,
          _id,
          accountId,
          deviceId,
        }),
        deviceSettings.findOne({ _id }),
      ])
      if (status === null) return undefined
      return { status: deviceStatusOf(status), settings: settingsOf(settings) }
    },

    async pageDevices({ accountId, limit, after }) {
      const { deviceStatuses } = await readModels()
      const page = await deviceStatuses
        .find({
          ...kept().deviceStatuses,
          accountId,
          ...(after !== undefined && { deviceId: { $gt: after } }),
        })
        .sort({ deviceId: 1 })
        .limit(limit)
        .toArray()
      const made = await deviceSettings.find({ _id: { $in: page.map(({ _id }) => _id) } }).toArray()
      const settings = new Map(made.map((document) => [document._id, document]))
      return page.map((status) => ({
        status: deviceStatusOf(status),
        settings: settingsOf(settings.get(status._id)),
      }))
    },

    async changeDeviceSettings(change) {
      try {
        return await changeSettings(deviceSettings, change)
      } catch (error) {
        // Two first changes of one device at once: the other one has made the document.
        if (!isDuplicateKey(error)) throw error
        return changeSettings(deviceSettings, change)
      }
    },
  }
}

type Change = Parameters<Devices['changeDeviceSettings']>[0]

async function changeSettings(
  deviceSettings: Collection<DeviceSettingsDocument>,
  { accountId, deviceId, name, disabled, expectedIntervalSeconds }: Change,
): Promise<DeviceSettings> {
  const values = { name, disabled, expectedIntervalSeconds }
  const named = Object.entries(values).filter(([, value]) => value !== undefined)
  const $set = Object.fromEntries(named.filter(([, value]) => value !== null))
  const $unset = Object.fromEntries(
    named.filter(([, value]) => value === null).map(([field]) => [field, true as const]),
  )
  const $setOnInsert = { accountId, deviceId, ...(disabled === undefined && DEFAULT_SETTINGS) }
  const document = await deviceSettings.findOneAndUpdate(
    { _id: deviceKey({ accountId, deviceId }) },
    { $set, $unset, $setOnInsert },
    { upsert: true, returnDocument: 'after' },
  )
  return settingsOf(document)
}

function settingsOf(document: DeviceSettingsDocument | null | undefined): DeviceSettings {
  if (document === null || document === undefined) return DEFAULT_SETTINGS
  const { name, disabled, expectedIntervalSeconds } = document
  return {
    ...(name !== undefined && { name }),
    disabled,
    ...(expectedIntervalSeconds !== undefined && { expectedIntervalSeconds }),
  }
}
