import { api } from '../../api/client.ts'
import type { LiveDevice } from '../../core/live-device.ts'
import { isMoving, type Motion } from '../../core/motion.ts'
import { markChanged } from '../../live/announce-changes.ts'

/** The shortest stop that the API reports; for shorter ones, "Stopped" is enough. */
const STOP_SECONDS = 60

/**
 * The stops requested, and the only call in progress: scrolling through the list must not flood the
 * API.
 */
const asked = new Set<Motion['place']>()
let isAsking = false

/**
 * Reads from the history since when devices have been stopped that were already stopped when the
 * page was opened. One call at a time, and once for each stop.
 */
export async function askStoppedSince(devices: readonly LiveDevice[]): Promise<void> {
  if (isAsking) return
  const device = devices.find((one) => isUnknown(one) && !asked.has(one.motion.place))
  if (device === undefined) return
  isAsking = true
  const { place } = device.motion
  asked.add(place)
  try {
    const sinceMs = await readStoppedSince(device)
    // The device may have moved in the meantime.
    if (sinceMs !== undefined && device.motion.place === place && isUnknown(device)) {
      device.motion = { ...device.motion, sinceMs }
      markChanged()
    }
  } finally {
    isAsking = false
  }
  return askStoppedSince(devices)
}

/** Whether the device has been stopped since an unknown time. */
function isUnknown({ status, motion }: LiveDevice): boolean {
  return (
    status === 'online' &&
    motion.speed !== undefined &&
    !isMoving(motion) &&
    motion.sinceMs === undefined
  )
}

/** The start of the stop that the device's newest position belongs to. */
async function readStoppedSince({
  deviceId,
  motion: { atMs },
}: LiveDevice): Promise<number | undefined> {
  const { items } = await api.get('/devices/{deviceId}/trips', {
    path: { deviceId },
    query: {
      from: new Date(atMs - 1_000 * STOP_SECONDS).toISOString(),
      to: new Date(atMs + 1).toISOString(),
      stopSeconds: STOP_SECONDS,
    },
  })
  const last = items.at(-1)
  return last?.kind === 'stop' && Date.parse(last.to) >= atMs ? Date.parse(last.from) : undefined
}
