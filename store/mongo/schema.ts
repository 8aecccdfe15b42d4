import { MongoServerError, type Db } from 'mongodb'
import { DependencyError } from '../../runtime/errors.ts'
import { REJECTIONS_KEPT_MS } from '../../schemas/report-rejected.ts'
import {
  openCollections,
  openReadModels,
  READ,
  type Collections,
  type ReadModelCollections,
} from './collections.ts'
import { underLock, type Clock } from './lock.ts'

type Meta = Collections['meta']

const MIGRATION_LEASE_MS = 60_000
const INDEX_NOT_FOUND = 27
const NAMESPACE_NOT_FOUND = 26

/** `MIGRATIONS[n]` leads from version n to n + 1; each may be begun again after a crash. */
const MIGRATIONS: readonly ((collections: Collections) => Promise<void>)[] = [
  async function useFirstReadModels({ meta }) {
    const first = { $setOnInsert: { generation: 1 } }
    await meta.updateOne({ _id: 'read-models' }, first, { upsert: true })
  },

  /**
   * From here on status documents may have no last position, and keys a secret that ends: a program
   * that does not know it must not start. Operators are now found by an index with their age.
   */
  async function letDevicesBeErased({ operators }) {
    await operators.dropIndex('account').catch((error: unknown) => {
      const code = error instanceof MongoServerError ? error.code : undefined
      if (code !== INDEX_NOT_FOUND && code !== NAMESPACE_NOT_FOUND) throw error
    })
  },
]

/**
 * Brings the database to the version of this program and makes its indexes; several processes may
 * do so at once. Gives the read models in use.
 * @throws {DependencyError} not retriable when a newer program has already changed the database.
 */
export async function prepareDatabase(
  db: Db,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<ReadModelCollections> {
  const collections = openCollections(db)
  if ((await versionOf(collections.meta)) < MIGRATIONS.length) {
    const lock = { name: 'migration-lock', leaseMs: MIGRATION_LEASE_MS, clock, signal } as const
    await underLock(collections.meta, lock, () => migrate(collections))
  }
  const readModels = openReadModels(db, (await generationsOf(collections.meta)).generation)
  await makeIndexes(collections)
  await makeReadModelIndexes(readModels)
  return readModels
}

/** The generation of the read models in use, and the newest that a rebuild has begun. */
export async function generationsOf(
  meta: Meta,
): Promise<{ readonly generation: number; readonly newest: number }> {
  const { generation = 1, newest = generation } =
    (await meta.findOne({ _id: 'read-models' }, READ)) ?? {}
  return { generation, newest }
}

async function migrate(collections: Collections): Promise<void> {
  const version = await versionOf(collections.meta)
  for (const migration of MIGRATIONS.slice(version)) await migration(collections)
  await collections.meta.updateOne(
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
        `${MIGRATIONS.length}: it was written by a newer version; start that one`,
      { retriable: false },
    )
  }
  return version
}

async function makeIndexes(collections: Collections): Promise<void> {
  const { accounts, operators, sessions, keys, deviceSettings, hiddenDevices } = collections
  const { audit, rejections } = collections
  await accounts.createIndexes([{ name: 'oldest', key: { createdAt: 1, _id: 1 } }])
  await operators.createIndexes([
    { name: 'email', key: { emailLowerCase: 1 }, unique: true },
    { name: 'first', key: { first: 1 }, unique: true, sparse: true },
    { name: 'account_oldest', key: { accountId: 1, createdAt: 1, _id: 1 } },
  ])
  await sessions.createIndexes([{ name: 'operator', key: { operatorId: 1 } }])
  await keys.createIndexes([
    { name: 'secret', key: { 'secrets.hash': 1 }, unique: true },
    { name: 'account_newest', key: { accountId: 1, createdAt: -1, _id: -1 } },
  ])
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
  ])
  await hiddenDevices.createIndexes([
    { name: 'device', key: { accountId: 1, deviceId: 1 } },
    { name: 'erased_at', key: { erasedAt: 1 } },
  ])
  await audit.createIndexes([{ name: 'account_newest', key: { accountId: 1, _id: -1 } }])
  await rejections.createIndexes([
    { name: 'account_newest', key: { accountId: 1, _id: -1 } },
    { name: 'key_newest', key: { accountId: 1, keyId: 1, _id: -1 } },
    { name: 'device_newest', key: { accountId: 1, deviceId: 1, _id: -1 } },
    {
      name: 'received_at',
      key: { receivedAt: 1 },
      expireAfterSeconds: REJECTIONS_KEPT_MS / 1_000,
    },
  ])
}

/** What a generation of the read models is asked by; a rebuild makes these for the next one. */
export async function makeReadModelIndexes({
  positions,
  deviceStatuses,
}: ReadModelCollections): Promise<void> {
  await positions.createIndexes([
    { name: 'device_history', key: { accountId: 1, deviceId: 1, timestamp: 1, _id: 1 } },
  ])
  await deviceStatuses.createIndexes([
    { name: 'device', key: { accountId: 1, deviceId: 1 } },
    { name: 'last_seen', key: { accountId: 1, lastSeenAt: 1, deviceId: 1 } },
    // For what goes by its age, hour by hour.
    { name: 'seen', key: { lastSeenAt: 1 } },
    { name: 'erased_at', key: { erasedAt: 1 }, sparse: true },
  ])
}
