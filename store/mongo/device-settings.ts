import { isDeepStrictEqual } from 'node:util'
import type { Collection } from 'mongodb'
import type { DeviceErased } from '../../schemas/events/device-erased.ts'
import { sortLabels } from '../../schemas/devices/labels.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { DeviceSettings } from '../../schemas/devices/read-models.ts'
import type { DeviceInterval, Devices } from '../read-models.ts'
import { READ, type DeviceSettingsDocument } from './collections.ts'
import { NO_SETTINGS, sameLife, UNNUMBERED } from './hidden-devices.ts'
import { isDuplicateKey } from './driver-errors.ts'

const READ_WITHIN_MS = 5_000
const MOST_ATTEMPTS = 3
const INTERVALS_AT_ONCE = 250

/** The default settings of a device. */
export const DEFAULT_SETTINGS: DeviceSettings = { disabled: false }

export function mongoDeviceSettings({
  deviceSettings,
}: {
  deviceSettings: Collection<DeviceSettingsDocument>
}): Pick<Devices, 'devicesWithInterval' | 'changeDeviceSettings'> {
  return {
    devicesWithInterval: (accountId) =>
      deviceSettings
        .find({ accountId, expectedIntervalSeconds: { $exists: true } }, READ)
        .project<DeviceInterval>({ _id: 0, deviceId: 1, expectedIntervalSeconds: 1 })
        // Decoding a larger response would take one long turn of the event loop.
        .batchSize(INTERVALS_AT_ONCE)
        .toArray(),

    async changeDeviceSettings(change) {
      // A concurrent first change of the device may have created the document.
      for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
        try {
          return await changeSettings(deviceSettings, change)
        } catch (error) {
          if (!isDuplicateKey(error)) throw error
        }
      }
      return undefined
    },
  }
}

/** Removes the settings of a device unless they were changed after its erasure. */
export async function forgetSettings(
  deviceSettings: Collection<DeviceSettingsDocument>,
  { accountId, deviceId, erasedAt }: DeviceErased,
): Promise<void> {
  await deviceSettings.deleteOne({
    _id: deviceKey({ accountId, deviceId }),
    accountId,
    deviceId,
    $or: [{ changedAt: { $exists: false } }, { changedAt: { $lte: new Date(erasedAt) } }],
  })
}

/**
 * Removes the settings of devices that have expired. A disabled device that returns is still
 * disabled.
 */
export async function expireSettings(
  deviceSettings: Collection<DeviceSettingsDocument>,
  _id: string,
): Promise<void> {
  const filter = { _id, disabled: { $ne: true }, life: { $exists: false } }
  const { deletedCount } = await deviceSettings.deleteOne(filter)
  if (deletedCount === 0) {
    await deviceSettings.updateOne({ _id }, { $unset: { ...NO_SETTINGS, ...UNNUMBERED } })
  }
}

/** The ids of the account's disabled devices. */
export async function readDisabledDevices(
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
  { accountId, deviceId, life, changedAt, disabled, labels, ...values }: Change,
): Promise<DeviceSettings> {
  const stored = labels?.length === 0 ? null : labels && sortLabels(labels)
  const before = await deviceSettings.findOne(
    { _id: deviceKey({ accountId, deviceId }) },
    { ...READ, projection: { disabled: 1, labels: 1 } },
  )
  const isRelabelled = stored !== undefined && !isDeepStrictEqual(stored, before?.labels ?? null)
  const times = {
    ...(isRelabelled && { labelsChangedAt: new Date(changedAt) }),
    ...(disabled === false && before?.disabled === true && { enabledAt: new Date(changedAt) }),
  }
  const { $set, $unset } = namedValues({ ...values, disabled, labels: stored, ...times })
  const $setOnInsert = { accountId, deviceId, ...(disabled === undefined && DEFAULT_SETTINGS) }
  const document = await deviceSettings.findOneAndUpdate(
    // A document of another life does not match, and inserting a second one fails.
    { _id: deviceKey({ accountId, deviceId }), ...sameLife(life) },
    {
      $set,
      $unset: { ...$unset, ...UNNUMBERED },
      $setOnInsert,
      $max: { changedAt: new Date(changedAt) },
    },
    { upsert: true, returnDocument: 'after' },
  )
  return settingsOf(document)
}

/** A change as update operators: `null` clears a value, absent fields stay unchanged. */
function namedValues(values: Readonly<Record<string, unknown>>): {
  $set: Record<string, unknown>
  $unset: Record<string, true>
} {
  const named = Object.entries(values).filter(([, value]) => value !== undefined)
  return {
    $set: Object.fromEntries(named.filter(([, value]) => value !== null)),
    $unset: Object.fromEntries(
      named.filter(([, value]) => value === null).map(([field]) => [field, true as const]),
    ),
  }
}
