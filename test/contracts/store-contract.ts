import { describe } from '@jest/globals'
import type { Store } from '../../store/store.ts'
import { anyProjectionContract } from './store-any-projection.ts'
import { auditContract } from './store-audit.ts'
import { changesContract } from './store-changes.ts'
import { deviceCountsContract } from './store-device-counts.ts'
import { devicePagesContract } from './store-device-pages.ts'
import { deviceSearchContract } from './store-device-search.ts'
import { devicesContract } from './store-devices.ts'
import { erasuresContract } from './store-erasures.ts'
import { expiryContract } from './store-expiry.ts'
import { generationsContract } from './store-generations.ts'
import { heartbeatsContract } from './store-heartbeats.ts'
import { hiddenDevicesContract } from './store-hidden-devices.ts'
import { historyCountsContract } from './store-history-counts.ts'
import { historyContract } from './store-history.ts'
import { instancesContract } from './store-instances.ts'
import { keyRotationContract } from './store-key-rotation.ts'
import { keysContract } from './store-keys.ts'
import { operatorChangesContract } from './store-operator-changes.ts'
import { operatorsContract } from './store-operators.ts'
import { projectionContract } from './store-projection.ts'
import { rejectionsContract } from './store-rejections.ts'
import { sharesContract } from './store-shares.ts'
import { spooledContract } from './store-spooled.ts'

/** A store with its own data, empty at first. */
export type OpenedStore = {
  readonly store: Store
  /** Ends this store and opens another on the same data, as a process does that starts again. */
  reopen(): Promise<Store>
  /** Ends the store opened last and removes its data. */
  close(): Promise<void>
}

export type OpenStore = () => Promise<OpenedStore>

/** The contract of every adapter of the Store port. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`${name} as a Store`, () => {
    projectionContract(open)
    anyProjectionContract(open)
    changesContract(open)
    erasuresContract(open)
    spooledContract(open)
    heartbeatsContract(open)
    hiddenDevicesContract(open)
    expiryContract(open)
    historyContract(open)
    historyCountsContract(open)
    generationsContract(open)
    devicesContract(open)
    devicePagesContract(open)
    deviceSearchContract(open)
    deviceCountsContract(open)
    keysContract(open)
    keyRotationContract(open)
    operatorsContract(open)
    operatorChangesContract(open)
    sharesContract(open)
    auditContract(open)
    rejectionsContract(open)
    instancesContract(open)
  })
}
