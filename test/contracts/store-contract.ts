import { describe } from '@jest/globals'
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
import { storeSuite, type OpenStore } from './store-suite.ts'

/** The contract of every adapter of the Store port. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`${name} as a Store`, () => {
    const suite = storeSuite(open)
    projectionContract(suite)
    anyProjectionContract(suite)
    changesContract(suite)
    erasuresContract(suite)
    spooledContract(suite)
    heartbeatsContract(suite)
    hiddenDevicesContract(suite)
    expiryContract(suite)
    historyContract(suite)
    historyCountsContract(suite)
    generationsContract(suite)
    devicesContract(suite)
    devicePagesContract(suite)
    deviceSearchContract(suite)
    deviceCountsContract(suite)
    keysContract(suite)
    keyRotationContract(suite)
    operatorsContract(suite)
    operatorChangesContract(suite)
    sharesContract(suite)
    auditContract(suite)
    rejectionsContract(suite)
    instancesContract(suite)
  })
}
