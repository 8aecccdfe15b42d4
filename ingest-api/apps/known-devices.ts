import { LRUCache } from 'lru-cache'
import { within } from '../../runtime/clock.ts'
import { Slots } from '../../runtime/limits/slots.ts'
import type { Devices } from '../../store/read-models.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'

/** An erased device may count as known for this long. */
const KNOWN_MS = 60_000
const KNOWN_KEPT = 10_000
/** Meanwhile the request keeps its place. Embedded, the answer comes from the other thread, which may be busy. */
const ANSWER_MS = 50
/** The look-ups that the store may not have answered. */
const UNDER_WAY = { most: 64, mostEach: 16 }

/** Undefined: the store does not say. */
export type IsKnownDevice = (
  device: Parameters<typeof deviceKey>[0],
) => Promise<boolean | undefined>

/**
 * Whether operators see a device, because a position of it was stored. Asked only where a message would
 * otherwise vanish. Undefined if the store does not answer at once, or has yet to answer others.
 */
export function knownDevices({
  devices,
}: {
  readonly devices: Pick<Devices, 'findDevice'>
}): IsKnownDevice {
  const known = new LRUCache<string, true>({ max: KNOWN_KEPT, ttl: KNOWN_MS })
  const underWay = new Slots(UNDER_WAY)
  return async ({ accountId, deviceId }) => {
    const id = deviceKey({ accountId, deviceId })
    if (known.has(id)) return true
    if (underWay.areTaken(accountId)) return undefined
    underWay.take(accountId)
    const asked = devices.findDevice({ accountId, deviceId })
    // Not after the time that its request waits: the store has yet to answer it.
    const end = () => underWay.giveBack(accountId)
    asked.then(end, end)
    try {
      const found = await within(ANSWER_MS, asked, tooLate)
      if (found === undefined) return false
      known.set(id, true)
    } catch {
      return undefined
    }
    return true
  }
}

function tooLate(): Error {
  return new Error('the store did not answer in time')
}
