import { isListed } from '../../schemas/device-list.ts'
import { SILENCE } from '../../schemas/liveness.ts'
import { liveness, type Device } from '../../schemas/read-models.ts'
import type { DeviceCounts, Devices } from '../read-models.ts'
import { READ, type Collections, type ReadModelCollections } from './collections.ts'
import { listed } from './device-search.ts'
import { devicesThatDiffer } from './device-settings.ts'
import type { Kept } from './retention.ts'

/** Devices looked at individually, at a time. */
const FOUND_AT_ONCE = 1_000

/**
 * Counts devices by the time they were last seen, in the index alone, without a look-up of each
 * one's settings. Only devices whose settings matter are looked at individually.
 */
export async function countDevices(
  { accountId, devices, now }: Parameters<Devices['countDevices']>[0],
  {
    collections: { deviceStatuses, deviceSettings },
    kept,
    hidden,
    findDevices,
  }: {
    collections: Pick<Collections, 'deviceSettings'> & Pick<ReadModelCollections, 'deviceStatuses'>
    kept: Kept
    hidden: readonly string[]
    findDevices: Devices['findDevices']
  },
): Promise<DeviceCounts> {
  const differing = await devicesThatDiffer(deviceSettings, accountId)
  const seenSince = (name: keyof typeof SILENCE) => ({
    $cond: [{ $gte: ['$lastSeenAt', new Date(now - SILENCE[name].longestMs)] }, 1, 0],
  })
  const bounds = [
    // Erased devices have no time.
    { lastSeenAt: kept.deviceStatuses.lastSeenAt ?? { $gte: new Date(0) } },
    { deviceId: { $nin: [...differing, ...hidden] } },
    ...listed(devices),
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
  const individually = differing.filter((deviceId) => isListed(devices, deviceId))
  for (let start = 0; start < individually.length; start += FOUND_AT_ONCE) {
    const deviceIds = individually.slice(start, start + FOUND_AT_ONCE)
    addTo(counts, await findDevices({ accountId, deviceIds }), now)
  }
  return counts
}

type Counts = { -readonly [Name in keyof DeviceCounts]: number }

function addTo(counts: Counts, devices: readonly Device[], now: number): void {
  for (const device of devices) {
    counts.total += 1
    counts[liveness(device, now)] += 1
    if (device.settings.disabled) counts.disabled += 1
  }
}
