import { describe } from '@jest/globals'
import type { Store } from '../../store/store.ts'
import { devicesContract } from './store-devices.ts'
import { expiryContract } from './store-expiry.ts'
import { generationsContract } from './store-generations.ts'
import { historyContract } from './store-history.ts'
import { keysContract } from './store-keys.ts'
import { operatorsContract } from './store-operators.ts'
import { projectionContract } from './store-projection.ts'

/** A store on data of its own, empty at first. */
export type OpenedStore = {
  readonly store: Store
  /** Ends this store and opens another on the same data, as a process does that starts again. */
  reopen(): Promise<Store>
  /** Ends the store opened last and removes its data. */
  close(): Promise<void>
}

export type OpenStore = () => Promise<OpenedStore>

/** What every adapter of the Store port promises, whatever it is made of. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`${name} as a Store`, () => {
    projectionContract(open)
    expiryContract(open)
    historyContract(open)
    generationsContract(open)
    devicesContract(open)
    keysContract(open)
    operatorsContract(open)
  })
}
