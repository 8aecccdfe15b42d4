import type { Filter } from 'mongodb'
import { livenessOf, SILENCE } from '../../schemas/devices/liveness.ts'
import type { DeviceCounts, Devices } from '../read-models.ts'
import {
  READ,
  type Collections,
  type DeviceSettingsDocument,
  type ReadModelCollections,
} from './collections.ts'
import { boundIds } from './device-search.ts'
import type { Kept } from './retention.ts'

/** The number of devices with relevant settings that are read at a time. */
const LOOKED_AT_AT_ONCE = 1_000

type Differing = Pick<DeviceSettingsDocument, 'deviceId' | 'disabled' | 'expectedIntervalSeconds'>

/**
 * Counts devices by the time they were last seen, using only the index, as if none had settings.
 * Then reads the devices whose settings matter and moves each to the status it belongs to.
 */
export async function countDevices(
  { accountId, devices, now }: Parameters<Devices['countDevices']>[0],
  {
    collections: { deviceStatuses, deviceSettings },
    kept,
    hidden,
  }: {
    collections: Pick<Collections, 'deviceSettings'> & Pick<ReadModelCollections, 'deviceStatuses'>
    kept: Kept
    hidden: readonly string[]
  },
): Promise<DeviceCounts> {
  const seenSince = (name: keyof typeof SILENCE) => ({
    $cond: [{ $gte: ['$lastSeenAt', new Date(now - SILENCE[name].longestMs)] }, 1, 0],
  })
  const bounds = [
    // Erased devices have no time.
    { lastSeenAt: { $gte: new Date(0) } },
    { lastReceivedAt: kept.deviceStatuses.lastReceivedAt ?? { $gte: new Date(0) } },
    { deviceId: { $nin: hidden } },
    ...boundIds(devices),
  ]
  const [{ total, online, seen } = { total: 0, online: 0, seen: 0 }] = await deviceStatuses
    .aggregate<{ total: number; online: number; seen: number }>(
      [
        { $match: { accountId, $and: bounds } },
        {
          $group: {
            _id: null,
            total: { $sum: 1 },
            online: { $sum: seenSince('online') },
            seen: { $sum: seenSince('idle') },
          },
        },
      ],
      READ,
    )
    .toArray()
  const counts = { total, online, idle: seen - online, offline: total - seen, disabled: 0 }
  const differing = deviceSettings
    .find(
      { accountId, $and: [DIFFERS, ...(boundIds(devices) as Filter<DeviceSettingsDocument>[])] },
      READ,
    )
    .project<Differing>({ _id: 0, deviceId: 1, disabled: 1, expectedIntervalSeconds: 1 })
    .batchSize(LOOKED_AT_AT_ONCE)
  try {
    while (await differing.hasNext()) await move(differing.readBufferedDocuments())
  } finally {
    await differing.close()
  }
  // A device that reported in between was counted with its previous time.
  counts.online = Math.max(0, counts.online)
  counts.idle = Math.max(0, counts.idle)
  counts.offline = Math.max(0, counts.offline)
  return counts

  async function move(some: readonly Differing[]): Promise<void> {
    const settings = new Map(some.map((own) => [own.deviceId, own]))
    const seen = await deviceStatuses
      .find({ accountId, $and: [...bounds, { deviceId: { $in: [...settings.keys()] } }] }, READ)
      .project<{ deviceId: string; lastSeenAt: Date }>({ _id: 0, deviceId: 1, lastSeenAt: 1 })
      .toArray()
    for (const { deviceId, lastSeenAt } of seen) {
      const heard = { lastSeenAt: lastSeenAt.getTime() }
      const { disabled, expectedIntervalSeconds } = settings.get(deviceId) ?? {}
      counts[livenessOf(heard, now)] -= 1
      counts[livenessOf({ ...heard, expectedIntervalSeconds }, now)] += 1
      if (disabled === true) counts.disabled += 1
    }
  }
}

const DIFFERS: Filter<DeviceSettingsDocument> = {
  $or: [{ disabled: true }, { expectedIntervalSeconds: { $exists: true } }],
}
