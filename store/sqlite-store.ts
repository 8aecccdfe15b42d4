import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DependencyError } from '../runtime/errors.ts'
import type { Device } from '../schemas/read-models.ts'
import { ACCOUNTS_SCHEMA } from './sqlite/accounts-schema.ts'
import { Database } from './sqlite/database.ts'
import { DEFAULT_SETTINGS, sqliteDeviceSettings } from './sqlite/device-settings.ts'
import { followedReadModels } from './sqlite/followed-read-models.ts'
import { sqliteGenerations } from './sqlite/generations.ts'
import { sqliteKeys } from './sqlite/keys.ts'
import { sqliteOperators } from './sqlite/operators.ts'
import type { Store } from './store.ts'

/**
 * The store in two SQLite files in `directory`, which is made if it is not there: what only
 * operators can tell (accounts, keys, device settings), and the read models, which can be rebuilt
 * from the log and keep their own checkpoint. Several processes may have it open.
 * @throws {DependencyError} when a file cannot be opened.
 * @throws {Error} when a newer version of the program has changed a file's schema.
 */
export function openSqliteStore({ directory }: { directory: string }): Store {
  makeDirectory(directory)
  const accounts = new Database(join(directory, 'accounts.sqlite'), ACCOUNTS_SCHEMA)
  try {
    return storeOn(accounts, directory)
  } catch (error) {
    accounts.close()
    throw error
  }
}

function storeOn(accounts: Database, directory: string): Store {
  const settings = sqliteDeviceSettings(accounts)
  const generations = sqliteGenerations(accounts, directory)
  const readModels = followedReadModels(generations)

  return {
    ...sqliteOperators(accounts),
    ...sqliteKeys(accounts, settings),
    changeDeviceSettings: settings.changeDeviceSettings,

    ...generations.port,
    checkpoint: async () => readModels.current().checkpoint(),
    project: async (batch) => readModels.current().project(batch),
    findPosition: async (query) => readModels.current().findPosition(query),
    pagePositions: async (query) => readModels.current().pagePositions(query),

    async expire(receivedBefore) {
      // Its own: it takes many turns, and those in use may change meanwhile.
      const { readModels: own } = generations.openInUse()
      try {
        await own.expire(receivedBefore, (devices) => settings.remove(devices))
      } finally {
        own.close()
      }
    },

    async findDevice(device) {
      const status = readModels.current().statuses.find(device)
      return status && { status, settings: settings.find(device) }
    },

    async pageDevices(query): Promise<Device[]> {
      const page = readModels.current().statuses.page(query)
      const first = page.at(0)?.deviceId
      const last = page.at(-1)?.deviceId
      if (first === undefined || last === undefined) return []
      const made = settings.between({ accountId: query.accountId, first, last })
      return page.map((status) => ({
        status,
        settings: made.get(status.deviceId) ?? DEFAULT_SETTINGS,
      }))
    },

    async ready() {
      generations.inUse()
      readModels.current().checkpoint()
    },

    async close() {
      readModels.close()
      accounts.close()
    },
  }
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true })
  } catch (error) {
    throw new DependencyError(`the store's directory ${directory} cannot be made`, {
      retriable: true,
      cause: error,
    })
  }
}
