import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DependencyError } from '../runtime/errors.ts'
import type { Device } from '../schemas/read-models.ts'
import { ACCOUNTS_SCHEMA } from './sqlite/accounts-schema.ts'
import { Database } from './sqlite/database.ts'
import { DEFAULT_SETTINGS, sqliteDeviceSettings } from './sqlite/device-settings.ts'
import { sqliteKeys } from './sqlite/keys.ts'
import { sqliteOperators } from './sqlite/operators.ts'
import { openReadModels } from './sqlite/read-models.ts'
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
    return storeOn(accounts, openReadModels(directory, currentGeneration(accounts)))
  } catch (error) {
    accounts.close()
    throw error
  }
}

function storeOn(accounts: Database, readModels: ReturnType<typeof openReadModels>): Store {
  const settings = sqliteDeviceSettings(accounts)
  const { statuses } = readModels

  return {
    ...sqliteOperators(accounts),
    ...sqliteKeys(accounts, settings),
    changeDeviceSettings: settings.changeDeviceSettings,

    checkpoint: async () => readModels.checkpoint(),
    project: async (batch) => readModels.project(batch),
    expire: (receivedBefore) =>
      readModels.expire(receivedBefore, (devices) => settings.remove(devices)),
    findPosition: readModels.findPosition,
    pagePositions: readModels.pagePositions,

    async findDevice(device) {
      const status = statuses.find(device)
      return status && { status, settings: settings.find(device) }
    },

    async pageDevices(query): Promise<Device[]> {
      const page = statuses.page(query)
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
      currentGeneration(accounts)
      readModels.checkpoint()
    },

    async close() {
      readModels.close()
      accounts.close()
    },
  }
}

/** Which generation of the read models is in use; a rebuild makes the next one beside it. */
function currentGeneration(accounts: Database): number {
  const row = accounts.prepare<{ generation: number }>('SELECT generation FROM read_models').get()
  return row?.generation ?? 1
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
