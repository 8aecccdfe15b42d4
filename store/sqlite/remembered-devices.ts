import { LRUCache } from 'lru-cache'
import type { Database } from '../../runtime/sqlite/database.ts'
import { deviceKey } from '../../schemas/position-reported.ts'
import type { DeviceStatus } from '../../schemas/read-models.ts'
import type { DeviceStatuses } from './device-statuses.ts'
import type { AppliedErasures, ErasureTime } from './erasures.ts'

const REMEMBERED = 50_000

type Known = { status?: DeviceStatus | undefined; erasures?: readonly ErasureTime[] }

type Remembered = {
  readonly statuses: Pick<DeviceStatuses, 'find' | 'save' | 'remove'>
  readonly erasures: Pick<AppliedErasures, 'isApplied' | 'times' | 'begin' | 'apply'>
  /** Call at the beginning of a write transaction. */
  refresh(): void
  /** Call when a transaction has failed, or the tables were changed in another way. */
  forget(): void
}

/**
 * The tables of devices as the projection uses them. They remember what they last read or wrote of a
 * device, because every event of a device asks for it, and forget everything when another connection
 * has written the file.
 */
export function rememberDevices(
  database: Database,
  { statuses, erasures }: { statuses: DeviceStatuses; erasures: AppliedErasures },
): Remembered {
  const dataVersion = database.prepare<{ data_version: number }>('PRAGMA data_version')
  // With `max` its whole room would be taken at once, which takes longer than to open a small file.
  const devices = new LRUCache<string, Known>({ maxSize: REMEMBERED, sizeCalculation: () => 1 })
  let version: number | undefined

  function known(device: Parameters<typeof deviceKey>[0]): Known {
    const key = deviceKey(device)
    const found = devices.get(key)
    if (found !== undefined) return found
    const fresh = {}
    devices.set(key, fresh)
    return fresh
  }

  return {
    statuses: {
      find(device) {
        const about = known(device)
        if (!('status' in about)) about.status = statuses.find(device)
        return about.status
      },
      save(status) {
        statuses.save(status)
        known(status).status = status
      },
      remove(device) {
        statuses.remove(device)
        known(device).status = undefined
      },
    },

    erasures: {
      isApplied: (eventId) => erasures.isApplied(eventId),
      times(device) {
        const about = known(device)
        about.erasures ??= erasures.times(device)
        return [...about.erasures]
      },
      begin(erasure) {
        erasures.begin(erasure)
        delete known(erasure.event).erasures
      },
      apply(erasure) {
        erasures.apply(erasure)
        delete known(erasure.event).erasures
      },
    },

    refresh() {
      const now = dataVersion.get()?.data_version
      if (now !== version) devices.clear()
      version = now
    },

    forget: () => devices.clear(),
  }
}
