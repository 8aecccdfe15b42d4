import { setTimeout as pause } from 'node:timers/promises'
import { openReadModels } from '../../../store/mongo/collections.ts'
import type { Store } from '../../../store/store.ts'
import type { OpenStore } from '../../contracts/store-suite.ts'
import { testDatabase } from './database.ts'

/** A run of a property takes up to a second on a server, and milliseconds on SQLite, which has all of them. */
export const SHARE_OF_RUNS = 0.05

/** Opens a store in a separate database for a contract. */
export function patientStores(mongodb: Parameters<typeof testDatabase>[0]): OpenStore {
  return async () => {
    const database = testDatabase(mongodb)
    let store = patient(await database.open())
    return {
      store,
      async reopen() {
        await store.close()
        store = patient(await database.open())
        return store
      },
      storedRecords: () => openReadModels(database.db, 1).positions.countDocuments(),
      close: () => database.drop(),
    }
  }
}

/** Retriable errors, after which the projector asks again. */
const PASSING = / did not respond within | cannot be read back yet$/

const MOST_ATTEMPTS = 8

/**
 * Asks again after a while, as the projector does, when the server took too long: on a busy machine a stand-in stops
 * for seconds, and first finishes what it was asked before.
 */
function patient(store: Store): Store {
  const methods = Object.entries(store) as [string, (...args: unknown[]) => Promise<unknown>][]
  const asking = methods.map(([name, method]) => [
    name,
    async (...args: unknown[]) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await method(...args)
        } catch (error) {
          if (attempt === MOST_ATTEMPTS || !PASSING.test(String(error))) throw error
          await pause(attempt * 1_000)
        }
      }
    },
  ])
  return Object.fromEntries(asking) as Store
}
