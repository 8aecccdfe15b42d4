import type { Db } from 'mongodb'
import { DependencyError } from '../../runtime/errors.ts'
import { ALL_KINDS } from '../back-office/open-back-office.ts'
import {
  openCollections,
  openReadModels,
  READ,
  type Collections,
  type ReadModelCollections,
} from './collections.ts'
import { makeSearchIndexes, makeUniqueIndexes } from './documents.ts'
import { makeFactIndexes, openFactCollections } from './fact-documents.ts'
import { runUnderLock, type LockClock } from './lock.ts'

type Meta = Collections['meta']

const MIGRATION_LEASE_MS = 60_000

/** `MIGRATIONS[n]` migrates version n to n + 1; each can be restarted after a crash. */
const MIGRATIONS: readonly ((db: Db, renewed: () => Promise<boolean>) => Promise<void>)[] = [
  async function useFirstReadModels(db) {
    const { meta } = openCollections(db)
    const first = { $setOnInsert: { generation: 1, newest: 1 } }
    await meta.updateOne({ _id: 'read-models' }, first, { upsert: true })
  },
]

/**
 * Migrates the database to this version; several processes may do so concurrently. Returns the current
 * read models.
 * @throws {DependencyError} not retriable when a newer program has already changed it.
 */
export async function prepareDatabase(
  db: Db,
  { clock, signal }: { clock: LockClock; signal: AbortSignal },
): Promise<ReadModelCollections> {
  const collections = openCollections(db)
  if ((await versionOf(collections.meta)) < MIGRATIONS.length) {
    const lock = { name: 'migration-lock', leaseMs: MIGRATION_LEASE_MS, clock, signal } as const
    await runUnderLock(collections.meta, lock, (renewed) => migrate(db, renewed))
  }
  await makeUniqueIndexes(db, ALL_KINDS)
  return openReadModels(db, (await generationsOf(collections.meta)).generation)
}

/** Indexes for look-ups. On large collections this takes long; other work continues. */
export async function makeIndexes(db: Db, readModels: ReadModelCollections): Promise<void> {
  await makeReadModelIndexes(readModels)
  await makeDeviceIndexes(openCollections(db))
  await makeSearchIndexes(db, ALL_KINDS)
  await makeFactIndexes(openFactCollections(db))
}

/** The current generation, and the newest that a rebuild has started. */
export async function generationsOf(
  meta: Meta,
): Promise<{ readonly generation: number; readonly newest: number }> {
  const { generation = 1, newest = 1 } = (await meta.findOne({ _id: 'read-models' }, READ)) ?? {}
  return { generation, newest }
}

async function migrate(db: Db, renewed: () => Promise<boolean>): Promise<void> {
  const { meta } = openCollections(db)
  const version = await versionOf(meta)
  for (const migration of MIGRATIONS.slice(version)) await migration(db, renewed)
  await meta.updateOne(
    { _id: 'schema' },
    { $max: { version: MIGRATIONS.length } },
    { upsert: true },
  )
}

async function versionOf(meta: Meta): Promise<number> {
  const version = (await meta.findOne({ _id: 'schema' }, READ))?.version ?? 0
  if (version > MIGRATIONS.length) {
    throw new DependencyError(
      `the database has schema version ${version}, this program knows up to ` +
        `${MIGRATIONS.length}: another version of the program wrote it; start that one`,
      { retriable: false },
    )
  }
  return version
}

async function makeDeviceIndexes({ deviceSettings, hiddenDevices }: Collections): Promise<void> {
  await deviceSettings.createIndexes([
    {
      name: 'disabled',
      key: { accountId: 1, deviceId: 1 },
      partialFilterExpression: { disabled: true },
    },
    {
      name: 'interval',
      key: { accountId: 1, expectedIntervalSeconds: 1 },
      partialFilterExpression: { expectedIntervalSeconds: { $exists: true } },
    },
    {
      name: 'labels',
      key: { accountId: 1, labels: 1, deviceId: 1 },
      partialFilterExpression: { labels: { $exists: true } },
    },
    { name: 'version', key: { version: 1, changedAt: -1 } },
    { name: 'changed_at', key: { changedAt: -1 } },
    {
      name: 'life',
      key: { changedAt: 1 },
      partialFilterExpression: { life: { $exists: true } },
    },
  ])
  await hiddenDevices.createIndexes([
    { name: 'device', key: { accountId: 1, deviceId: 1 } },
    { name: 'erased_at', key: { erasedAt: 1 } },
  ])
}

/** The indexes of a generation; a rebuild creates them for the next one. */
export async function makeReadModelIndexes({
  positions,
  deviceStatuses,
}: ReadModelCollections): Promise<void> {
  await positions.createIndexes([
    { name: 'history', key: { accountId: 1, deviceId: 1, timestamp: 1 } },
  ])
  await deviceStatuses.createIndexes([
    { name: 'device', key: { accountId: 1, deviceId: 1 } },
    // Includes the time used by retention, so that counting reads no documents.
    { name: 'last_seen', key: { accountId: 1, lastSeenAt: 1, deviceId: 1, lastReceivedAt: 1 } },
    { name: 'key', key: { accountId: 1, lastKeyId: 1, deviceId: 1 } },
    // For the hourly removal by age.
    { name: 'received', key: { lastReceivedAt: 1 } },
    { name: 'erased_at', key: { erasedAt: 1 }, sparse: true },
    { name: 'removing', key: { removing: 1 }, sparse: true },
  ])
}
