import { join } from 'node:path'
import { DependencyError } from '../../runtime/errors.ts'
import { ACCOUNTS_SCHEMA } from './accounts-schema.ts'
import { Database, type DatabaseOptions } from '../../runtime/sqlite/database.ts'
import { makeDirectory } from '../../runtime/sqlite/opening.ts'
import { sqliteLabelCounts } from './device-labels.ts'
import { sqliteDeviceSettings } from './device-settings.ts'
import { sqliteDevices, followReadModels } from './devices.ts'
import { makeTables, sqliteDocuments } from './documents.ts'
import { FACTS_FILE, sqliteFacts } from './facts.ts'
import { FACTS_SCHEMA } from './facts-schema.ts'
import { sqliteGenerations, sqliteRetention } from './generations.ts'
import { sqliteHiddenDevices, sqliteDeviceLives } from './hidden-devices.ts'
import { isOwnReport, ownReports } from './own-reports.ts'
import { checkReadModels, type SqliteReadModels } from './read-models.ts'
import {
  BACK_OFFICE,
  openBackOffice,
  openGrants,
  openRejections,
} from '../back-office/open-back-office.ts'
import { removalOfOutdated } from '../back-office/outdated.ts'
import { ANNOUNCED_ERASURES, REJECTION_KIND } from '../back-office/kinds.ts'
import { LIVES_KEPT_LONGER_MS, type WantedRetention } from '../retention.ts'
import type { OpenDocuments } from '../documents.ts'
import type { Store } from '../store.ts'
import type { FactLog } from '../../event-log/fact-log.ts'

export type SqliteStore = Store & { readonly factLog: FactLog }

export const ACCOUNTS_FILE = 'accounts.sqlite'
export const REJECTIONS_FILE = 'rejections.sqlite'
/**
 * A separate file: a flood of bad reports keeps writing here, and must neither delay sign-ins and
 * key changes, nor bloat the one file that cannot be rebuilt. `makeTables` creates all of its
 * tables.
 */
const REJECTIONS_SCHEMA = ['']
/** No more than a week's rejections are stored. */
const REJECTIONS_REMEDY = {
  ifDamaged: 'remove this file; only rejected reports of the last 7 days are lost with it',
}

/**
 * Checks the existing files of a store in `directory`, without changing them: so a file that cannot
 * be used is found before another one is migrated.
 * @throws {DependencyError} that says why this program cannot use a file, and what to do.
 */
export function checkSqliteStore(directory: string): void {
  Database.check(join(directory, ACCOUNTS_FILE), ACCOUNTS_SCHEMA)
  checkReadModels(directory)
  Database.check(join(directory, FACTS_FILE), FACTS_SCHEMA)
  Database.check(join(directory, REJECTIONS_FILE), REJECTIONS_SCHEMA, REJECTIONS_REMEDY)
}

/**
 * The store in SQLite files in `directory`, which is created if missing: the operators' data
 * (accounts, keys, device settings), the rejected reports, the facts, and the read models, which
 * can be rebuilt from the log and keep their own checkpoint. Several processes may have it open.
 * Only the process that projects, which owns the retention, passes `retention`.
 * @throws {DependencyError} when a file cannot be opened, or no retention is configured although
 * the store has one.
 * @throws {Error} when a newer version of the program has changed a file's schema.
 */
export function openSqliteStore({
  directory,
  retention,
  clock = { now: () => Date.now() },
  onMigration,
}: {
  directory: string
  retention?: { wanted: WantedRetention }
  clock?: { now(): number }
} & Pick<DatabaseOptions, 'onMigration'>): SqliteStore {
  makeStoreDirectory(directory)
  const opened: Database[] = []
  function open(name: string, schema: readonly string[], options: DatabaseOptions = {}): Database {
    const database = new Database(join(directory, name), schema, { onMigration, ...options })
    opened.push(database)
    return database
  }
  try {
    const accounts = open(ACCOUNTS_FILE, ACCOUNTS_SCHEMA)
    makeTables(
      accounts,
      BACK_OFFICE.filter((kind) => !isOwnReport(kind)),
    )
    if (retention !== undefined) sqliteRetention(accounts).claim(retention.wanted)
    const rejections = open(REJECTIONS_FILE, REJECTIONS_SCHEMA, REJECTIONS_REMEDY)
    makeTables(rejections, [REJECTION_KIND])
    const openFacts = () => open(FACTS_FILE, FACTS_SCHEMA)
    return storeOn({ accounts, rejections, openFacts, directory, clock, onMigration })
  } catch (error) {
    for (const database of opened) database.close()
    throw error
  }
}

/**
 * Read-only access to the keys of a store that another thread has opened and writes.
 * @throws {DependencyError} when the file does not exist.
 */
export function openSqliteGrants({
  directory,
}: {
  directory: string
}): Pick<Store, 'findGrant'> & { close(): void } {
  const accounts = new Database(join(directory, ACCOUNTS_FILE), ACCOUNTS_SCHEMA, {
    readOnly: true,
  })
  const settings = sqliteDeviceSettings(accounts, sqliteDeviceLives(accounts))
  const keys = openGrants(sqliteDocuments(accounts), settings)
  return { findGrant: (hash) => keys.findGrant(hash), close: () => accounts.close() }
}

function storeOn({
  accounts,
  rejections,
  openFacts,
  directory,
  clock,
  onMigration,
}: {
  accounts: Database
  rejections: Database
  /**
   * Called on the first use of facts: a store of an earlier version is copied and checked without
   * them.
   */
  openFacts: () => Database
  directory: string
  clock: { now(): number }
} & Pick<DatabaseOptions, 'onMigration'>): SqliteStore {
  const lives = sqliteDeviceLives(accounts)
  const settings = sqliteDeviceSettings(accounts, lives)
  const generations = sqliteGenerations(accounts, directory, { onMigration })
  const hidden = sqliteHiddenDevices(accounts)
  const readModels = followReadModels(generations, join(directory, ACCOUNTS_FILE))

  /**
   * Keeps the current read models open for work that takes many turns, during which the current
   * generation may change.
   */
  async function useReadModels<T>(work: (own: SqliteReadModels) => Promise<T>): Promise<T> {
    const { readModels: own } = generations.openInUse()
    try {
      return await work(own)
    } finally {
      own.close()
    }
  }

  const reports = ownReports(accounts, clock)
  const open: OpenDocuments = (kind) =>
    isOwnReport(kind)
      ? reports.open(kind)
      : sqliteDocuments(kind.name === REJECTION_KIND.name ? rejections : accounts)(kind)
  const announced = open(ANNOUNCED_ERASURES)
  const refused = openRejections(open, { clock })
  const backOffice = openBackOffice(open, { ...settings, ...lives })
  const facts = sqliteFacts({
    openFacts,
    accounts,
    clock,
    hiddenDevices: (accountId) => hidden.of(accountId, readModels.current()),
  })
  return {
    ...backOffice,
    ...refused,
    ...removalOfOutdated(open),
    ...sqliteDevices({
      readModels,
      settings,
      lives,
      countLabels: sqliteLabelCounts(accounts),
      hidden,
      announced,
      forgetting: {
        unshareDevice: (device) => backOffice.unshareDevice(device),
        forgetInDefinitions: (device) => backOffice.forgetInDefinitions(device),
        forgetAuditDetails: (device) => backOffice.forgetAuditDetails(device),
        forgetHandlings: (device) => backOffice.forgetHandlings(device),
        forgetRejections: (device) => refused.forgetRejections(device),
        clock,
      },
      isOnlyGeneration: (generation) => generations.isOnly(generation),
    }),

    ...facts,

    ...generations.port,
    async beginRebuild() {
      const begun = await generations.port.beginRebuild()
      return (
        begun && {
          ...begun,
          async settleErasures() {
            const from = generations.open(begun.from)
            try {
              hidden.sweepApplied(from)
            } finally {
              from.close()
            }
          },
        }
      )
    },
    checkpoint: async () => readModels.current().checkpoint(),

    project: (batch) => useReadModels((own) => own.project(batch)),

    expire: (receivedBefore, { seenBefore = receivedBefore, signal } = {}) =>
      useReadModels(async (own) => {
        hidden.remove(seenBefore)
        await own.expire(receivedBefore, {
          seenBefore,
          forget: (devices) => settings.remove(devices),
          ...(signal !== undefined && { signal }),
        })
        lives.remove(seenBefore - LIVES_KEPT_LONGER_MS)
      }),

    retentionDays: async () => sqliteRetention(accounts).days(),

    async ready() {
      generations.inUse()
      readModels.current().checkpoint()
    },

    async close() {
      readModels.close()
      rejections.close()
      facts.closeFacts()
      reports.close()
      accounts.close()
    },
  }
}

function makeStoreDirectory(directory: string): void {
  try {
    makeDirectory(directory)
  } catch (error) {
    throw new DependencyError(`the store's directory ${directory} cannot be created`, {
      retriable: true,
      cause: error,
    })
  }
}
