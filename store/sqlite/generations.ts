import { join } from 'node:path'
import { DependencyError } from '../../runtime/errors.ts'
import type { Database } from '../../runtime/sqlite/database.ts'
import { holdFile } from '../../runtime/sqlite/data-directory.ts'
import type { Generation, Rebuild } from '../generations.ts'
import { settleRetention, type WantedRetention } from '../retention.ts'
import {
  openReadModels,
  removeReadModelsExcept,
  type OpenOptions,
  type SqliteReadModels,
} from './read-models.ts'

type Pointer = { readonly generation: number; readonly newest: number }

/** The generations of the read models in `directory`; `accounts` says which one is current. */
export function sqliteGenerations(
  accounts: Database,
  directory: string,
  { onMigration }: Pick<OpenOptions, 'onMigration'> = {},
) {
  const pointer = accounts.prepare<Pointer>('SELECT generation, newest FROM read_models')
  const begin = accounts.prepare('UPDATE read_models SET newest = newest + 1')
  const switchOver = accounts.prepare(
    'UPDATE read_models SET generation = ? WHERE generation = ? AND newest = ?',
  )

  function current(): Pointer {
    return pointer.get() ?? { generation: 1, newest: 1 }
  }

  /** No process removes it in between, so a deleted file is never recreated. */
  function openInUse(options?: OpenOptions): { generation: number; readModels: SqliteReadModels } {
    return accounts.transaction(() => {
      const { generation } = current()
      return {
        generation,
        readModels: openReadModels(directory, generation, { ...options, onMigration }),
      }
    })
  }

  function open(generation: number, options?: OpenOptions): SqliteReadModels {
    return accounts.transaction(() => {
      const { generation: inUse, newest } = current()
      if (generation !== inUse && generation !== newest) {
        throw new DependencyError(`generation ${generation} of the read models has been removed`, {
          retriable: true,
        })
      }
      return openReadModels(directory, generation, { ...options, onMigration })
    })
  }

  function removeAllButInUse(): void {
    accounts.transaction(() => removeReadModelsExcept(directory, [current().generation]))
  }

  /** Whether the generation is current and no other is being built; leftovers of a rebuild do not count. */
  function isOnly(generation: number): boolean {
    const { generation: inUse, newest } = current()
    if (generation !== inUse || newest === inUse) return generation === inUse
    const held = holdRebuild()
    held?.release()
    return held !== undefined
  }

  function begunHolding(held: { release(): void }): Pointer {
    try {
      removeAllButInUse()
      return accounts.transaction(() => {
        begin.run()
        return current()
      })
    } catch (error) {
      // Otherwise no rebuild could start before this process ends.
      held.release()
      throw error
    }
  }

  function holdRebuild() {
    return holdFile(join(directory, 'rebuild.lock'), { waitMs: 0 })
  }

  const port = {
    currentGeneration: async () => current().generation,

    openGeneration: async (generation: number) => generationOn(open(generation)),

    async beginRebuild(): Promise<Omit<Rebuild, 'settleErasures'> | undefined> {
      const held = holdRebuild()
      if (held === undefined) return undefined
      const { generation: from, newest: to } = begunHolding(held)
      return {
        from,
        to,
        // The operating system holds this lock: it cannot be taken over.
        lost: new AbortController().signal,
        async switchOver() {
          if (switchOver.run(to, from, to) === 1) return
          throw new DependencyError('another rebuild has taken over', { retriable: false })
        },
        async end() {
          try {
            removeAllButInUse()
          } finally {
            held.release()
          }
        },
      }
    },
  }

  return { port, inUse: () => current().generation, isOnly, openInUse, open }
}

function generationOn(readModels: SqliteReadModels): Generation {
  return {
    checkpoint: async () => readModels.checkpoint(),
    lastApplied: async () => readModels.lastApplied(),
    foldVersion: async () => readModels.foldVersion(),
    project: async (batch) => readModels.project(batch),
    origins: async ({ receivedSince }) => readModels.origins(receivedSince),
    recordOrigins: (names) => readModels.recordOrigins(names),
    accounts: async () => readModels.accounts(),
    pageStatuses: async (query) => readModels.statuses.page(query),
    scanRecords: (query) => readModels.scanRecords(query),
    async erasedUpTo({ accountId, deviceIds }) {
      const found = deviceIds.map(
        (deviceId) => [deviceId, readModels.erasures.begunUpTo({ accountId, deviceId })] as const,
      )
      return new Map(found.filter(([, upTo]) => Object.keys(upTo).length > 0))
    },
    close: async () => readModels.close(),
  }
}

/** The retention set in the store, in the file that is not rebuilt from the log. */
export function sqliteRetention(accounts: Database) {
  const find = accounts.prepare<{ days: number | null }>(
    'SELECT retention_days AS days FROM read_models',
  )
  const save = accounts.prepare('UPDATE read_models SET retention_days = ?')
  const days = () => find.get()?.days ?? undefined

  return {
    days,

    /** @throws {DependencyError} not retriable if the store has one and none is configured. */
    claim(wanted: WantedRetention): void {
      accounts.transaction(() => save.run(settleRetention(wanted, days()) ?? null))
    },
  }
}
