import type { DeviceErased } from '../schemas/events/device-erased.ts'
import type { Audit, Shares } from './back-office.ts'
import type { AnnouncedErasure } from './back-office/kinds.ts'
import type { DefinitionStore } from './definitions.ts'
import type { DocumentStore } from './documents.ts'
import type { Erasures } from './read-models.ts'
import type { Handlings } from './handlings.ts'
import type { Rejections } from './rejections.ts'

const FINISHED_AT_ONCE = 100

/** How the back office forgets a device. */
export type Forgetting = Pick<Shares, 'unshareDevice'> &
  Pick<DefinitionStore, 'forgetInDefinitions'> &
  Pick<Audit, 'forgetAuditDetails'> &
  Pick<Handlings, 'forgetHandlings'> &
  Pick<Rejections, 'forgetRejections'> & {
    readonly clock: { now(): number }
  }

/**
 * The order of an erasure's steps, for both databases. `hide` precedes `beginLife`, so that a
 * reader of the new life finds the device either hidden or with reports made since.
 */
export function erasingDevices({
  announced,
  hide,
  isHidden,
  beginLife,
  forgetSettings,
  unshareDevice,
  forgetInDefinitions,
  forgetAuditDetails,
  forgetHandlings,
  forgetRejections,
  clock,
}: Forgetting & {
  announced: Omit<DocumentStore<AnnouncedErasure>, 'raise'>
  hide: (erasure: DeviceErased) => Promise<void>
  /** Whether this very erasure has hidden the device. */
  isHidden: (erasure: DeviceErased) => Promise<boolean>
  /** Removes the device's settings and starts its next life. */
  beginLife: (erasure: DeviceErased) => Promise<void>
  /** Removes the settings of a device unless they were changed after its erasure. */
  forgetSettings: (erasure: DeviceErased) => Promise<void>
}): Pick<Erasures, 'announceErasure' | 'hideErased' | 'forgetErased' | 'finishErasures'> {
  async function hideErased(erasure: DeviceErased): Promise<void> {
    await hide(erasure)
    await beginLife(erasure)
    // Changes of the previous life may have been recorded until now.
    await announceHidden(erasure, Math.max(clock.now(), erasure.erasedAt))
    const { eventId: id, accountId, deviceId } = erasure
    // Earlier erasures never reached the log, or this one covers them.
    await announced.removeOlder({ index: 'device', where: { accountId, deviceId }, than: id })
  }

  async function announceHidden(erasure: DeviceErased, forgottenUpTo: number): Promise<void> {
    const { eventId: id, accountId, deviceId } = erasure
    const known = await announced.get(id)
    if (known === undefined) await announced.insert([{ id, accountId, deviceId, forgottenUpTo }])
    else if (known.forgottenUpTo === undefined) await announced.replace({ ...known, forgottenUpTo })
  }

  /** The hidden devices, page by page; the next page no longer has devices already processed. */
  function pageHidden(device: Parameters<Erasures['finishErasures']>[0]) {
    return device === undefined
      ? announced.find({ index: 'hidden', from: 0, limit: FINISHED_AT_ONCE })
      : announced.find({ index: 'device', where: device, limit: FINISHED_AT_ONCE })
  }

  /** Together, so that the account's definitions are read only once for all its devices. */
  async function leaveDefinitions(erasures: readonly AnnouncedErasure[]): Promise<void> {
    const accounts = new Map<string, Map<string, number>>()
    for (const { accountId, deviceId, forgottenUpTo: upTo } of erasures) {
      if (upTo === undefined) continue
      const erased = accounts.get(accountId) ?? new Map<string, number>()
      accounts.set(accountId, erased.set(deviceId, Math.max(upTo, erased.get(deviceId) ?? upTo)))
    }
    for (const [accountId, erased] of accounts) {
      await forgetInDefinitions({ accountId, erased, changedAt: clock.now() })
    }
  }

  return {
    async announceErasure({ eventId: id, accountId, deviceId }) {
      await announced.insert([{ id, accountId, deviceId }])
    },

    hideErased,

    async forgetErased(erasure) {
      const known = await announced.get(erasure.eventId)
      if (known !== undefined && known.forgottenUpTo === undefined) return hideErased(erasure)
      // Needed even if this store was restored to a state before the erasure.
      await forgetSettings(erasure)
      const { accountId, deviceId, erasedAt } = erasure
      await unshareDevice({ accountId, deviceId, sharedUpTo: erasedAt })
      if (!(await isHidden(erasure))) await announceHidden(erasure, erasedAt)
    },

    async finishErasures(device) {
      for (;;) {
        const page = await pageHidden(device)
        await leaveDefinitions(page)
        for (const { id, accountId, deviceId, forgottenUpTo: upTo } of page) {
          if (upTo === undefined) continue
          await forgetAuditDetails({ accountId, deviceId, upTo })
          await forgetHandlings({ accountId, deviceId, upTo })
          await forgetRejections({ accountId, deviceId, upTo })
          await announced.remove({ id })
        }
        if (device !== undefined || page.length < FINISHED_AT_ONCE) return
      }
    },
  }
}

/**
 * Whether data written about a device in one life belongs to its current life. Without a current
 * life the device was never erased, or all data from before has expired.
 */
export function isSameLife(life: string | undefined, current: string | undefined): boolean {
  return current === undefined || life === current
}
