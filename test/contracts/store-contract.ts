import { describe, expect } from '@jest/globals'
import { anyLogContract } from './store-any-log.ts'
import { changesContract } from './store-changes.ts'
import { deviceListsContract } from './store-device-lists.ts'
import { devicesContract } from './store-devices.ts'
import { erasuresContract } from './store-erasures.ts'
import { expiryContract } from './store-expiry.ts'
import { factPiecesContract } from './store-fact-pieces.ts'
import { factsContract } from './store-facts.ts'
import { judgedDevicesContract } from './store-judged-devices.ts'
import { generationsContract } from './store-generations.ts'
import { hiddenDevicesContract } from './store-hidden-devices.ts'
import { historyCountsContract } from './store-history-counts.ts'
import { historyContract } from './store-history.ts'
import { labelsContract } from './store-labels.ts'
import { livesContract } from './store-lives.ts'
import { longErasuresContract } from './store-long-erasures.ts'
import { pastContract } from './store-past.ts'
import { projectionContract } from './store-projection.ts'
import { storeSuite, type OpenStore } from './store-suite.ts'

/**
 * The contract of every adapter of the Store port. The back office is the same code on every adapter of
 * Documents, so its tests run on one of them: test/store/back-office.
 */
export function storeContract(name: string, open: OpenStore, share?: number): void {
  describe(`${name} as a Store`, () => {
    const suite = storeSuite(open, share)
    projectionContract(suite)
    anyLogContract(suite)
    changesContract(suite)
    erasuresContract(suite)
    longErasuresContract(suite)
    hiddenDevicesContract(suite)
    livesContract(suite)
    expiryContract(suite)
    historyContract(suite)
    historyCountsContract(suite)
    pastContract(suite)
    generationsContract(suite)
    devicesContract(suite)
    deviceListsContract(suite)
    labelsContract(suite)
    factsContract(suite)
    factPiecesContract(suite)
    judgedDevicesContract(suite)

    suite.alone('a store is ready while it is open', async ({ store, reopen }) => {
      await store.ready()
      const next = await reopen()
      await expect(store.ready()).rejects.toMatchObject({ name: 'DependencyError' })
      await next.ready()
    })
  })
}
