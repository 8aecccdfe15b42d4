import { describe, expect } from '@jest/globals'
import { anyProjectionContract } from './store-any-projection.ts'
import { changesContract } from './store-changes.ts'
import { definitionsContract } from './store-definitions.ts'
import { deviceCountsContract } from './store-device-counts.ts'
import { deviceOrderContract } from './store-device-order.ts'
import { devicePagesContract } from './store-device-pages.ts'
import { deviceSearchContract } from './store-device-search.ts'
import { devicesContract } from './store-devices.ts'
import { erasuresContract } from './store-erasures.ts'
import { expiryContract } from './store-expiry.ts'
import { factPiecesContract } from './store-fact-pieces.ts'
import { factsContract } from './store-facts.ts'
import { judgedDevicesContract } from './store-judged-devices.ts'
import { generationsContract } from './store-generations.ts'
import { handlingsContract } from './store-handlings.ts'
import { heartbeatsContract } from './store-heartbeats.ts'
import { hiddenDevicesContract } from './store-hidden-devices.ts'
import { historyCountsContract } from './store-history-counts.ts'
import { historyContract } from './store-history.ts'
import { labelsContract } from './store-labels.ts'
import { livesContract } from './store-lives.ts'
import { longErasuresContract } from './store-long-erasures.ts'
import { operatorsAtOnceContract } from './store-operators-at-once.ts'
import { outdatedContract } from './store-outdated.ts'
import { projectionContract } from './store-projection.ts'
import { repeatsContract } from './store-repeats.ts'
import { spooledContract } from './store-spooled.ts'
import { subscriptionsContract } from './store-subscriptions.ts'
import { storeSuite, type OpenStore } from './store-suite.ts'

/**
 * The contract of every adapter of the Store port. The back office is the same code on every adapter of
 * Documents, so most of its tests run on one of them: test/store/back-office.
 */
export function storeContract(name: string, open: OpenStore): void {
  describe(`${name} as a Store`, () => {
    const suite = storeSuite(open)
    projectionContract(suite)
    anyProjectionContract(suite)
    changesContract(suite)
    erasuresContract(suite)
    longErasuresContract(suite)
    spooledContract(suite)
    heartbeatsContract(suite)
    repeatsContract(suite)
    hiddenDevicesContract(suite)
    livesContract(suite)
    expiryContract(suite)
    historyContract(suite)
    historyCountsContract(suite)
    generationsContract(suite)
    devicesContract(suite)
    devicePagesContract(suite)
    deviceSearchContract(suite)
    deviceOrderContract(suite)
    labelsContract(suite)
    deviceCountsContract(suite)
    operatorsAtOnceContract(suite)
    outdatedContract(suite)
    factsContract(suite)
    factPiecesContract(suite)
    judgedDevicesContract(suite)
    definitionsContract(suite)
    subscriptionsContract(suite)
    handlingsContract(suite)

    suite.alone('a store is ready while it is open', async ({ store, reopen }) => {
      await store.ready()
      const next = await reopen()
      await expect(store.ready()).rejects.toMatchObject({ name: 'DependencyError' })
      await next.ready()
    })
  })
}
