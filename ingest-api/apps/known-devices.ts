import { LRUCache } from 'lru-cache'
import { within } from '../../runtime/clock.ts'
import type { Devices } from '../../store/read-models.ts'

/** An erased device may count as known for this long. */
const KNOWN_MS = 60_000
const KNOWN_KEPT = 10_000
const ANSWER_MS = 1_000

export type IsKnownDevice = (device: { accountId: string; deviceId: string }) => Promise<boolean>

/**
 * Whether operators see a device, because a position of it was stored. Asked only where a message would
 * otherwise vanish. If the store does not answer, the device counts as known.
 */
export function knownDevices({
  devices,
}: {
  readonly devices: Pick<Devices, 'findDevice'>
}): IsKnownDevice {
  const known = new LRUCache<string, true>({ max: KNOWN_KEPT, ttl: KNOWN_MS })
  return async ({ accountId, deviceId }) => {
    const id = `${accountId}/${deviceId}`
    if (known.has(id)) return true
    try {
      const found = await within(ANSWER_MS, devices.findDevice({ accountId, deviceId }), tooLate)
      if (found === undefined) return false
      known.set(id, true)
    } catch {
      return true
    }
    return true
  }
}

function tooLate(): Error {
  return new Error('the store did not answer in time')
}
