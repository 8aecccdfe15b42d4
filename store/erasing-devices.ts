import type { DeviceErased } from '../schemas/device-erased.ts'
import type { Shares } from './back-office.ts'
import type { AnnouncedErasure } from './back-office/kinds.ts'
import type { Documents } from './documents.ts'
import type { Erasures } from './read-models.ts'

/**
 * The order of an erasure's steps, for both databases. `hide` precedes `beginLife`: whoever reads the
 * new life finds the device hidden, or as it has reported since.
 */
export function erasingDevices({
  announced,
  hide,
  beginLife,
  forgetSettings,
  unshareDevice,
}: {
  announced: Pick<Documents<AnnouncedErasure>, 'insert' | 'get' | 'remove' | 'removeOlder'>
  hide: (erasure: DeviceErased) => Promise<void>
  /** Removes the device's settings and gives it another life. */
  beginLife: (erasure: DeviceErased) => Promise<void>
  /** Removes the settings of a device unless they were changed after its erasure. */
  forgetSettings: (erasure: DeviceErased) => Promise<void>
  unshareDevice: Shares['unshareDevice']
}): Pick<Erasures, 'announceErasure' | 'hideErased' | 'forgetErased'> {
  async function hideErased(erasure: DeviceErased): Promise<void> {
    await hide(erasure)
    await beginLife(erasure)
    const { eventId: id, accountId, deviceId } = erasure
    await announced.remove({ id })
    // Earlier ones never reached the log.
    await announced.removeOlder({ index: 'device', where: { accountId, deviceId }, than: id })
  }

  return {
    async announceErasure({ eventId: id, accountId, deviceId }) {
      await announced.insert([{ id, accountId, deviceId }])
    },

    hideErased,

    async forgetErased(erasure) {
      const isAnnounced = (await announced.get(erasure.eventId)) !== undefined
      if (isAnnounced) return hideErased(erasure)
      // Also if this store was restored from before the erasure, and has never heard of it.
      await forgetSettings(erasure)
      const { accountId, deviceId, erasedAt } = erasure
      await unshareDevice({ accountId, deviceId, sharedUpTo: erasedAt })
    },
  }
}
