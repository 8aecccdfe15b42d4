import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Db } from 'mongodb'
import { DependencyError } from '../../runtime/errors.ts'
import {
  openCollections,
  openReadModels,
  type Collections,
  type ReadModelCollections,
} from './collections.ts'
import { isDuplicateKey } from './driver-errors.ts'

type Meta = Collections['meta']
type Clock = { now(): number }

/** `MIGRATIONS[n]` leads from version n to n + 1; each may be begun again after a crash. */
const MIGRATIONS: readonly ((collections: Collections) => Promise<void>)[] = [
  async function useFirstReadModels({ meta }) {
    const first = { $setOnInsert: { generation: 1 } }
    await meta.updateOne({ _id: 'read-models' }, first, { upsert: true })
  },
]

const LEASE_MS = 60_000
const LOCK_POLL_MS = 50

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
    await underLock(collections.meta, { clock, signal }, () => migrate(collections))
  }
  const inUse = await collections.meta.findOne({ _id: 'read-models' })
  const readModels = openReadModels(db, inUse?.generation ?? 1)
  await makeIndexes(collections)
  await makeReadModelIndexes(readModels)
  return readModels
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
  const version = (await meta.findOne({ _id: 'schema' }))?.version ?? 0
  if (version > MIGRATIONS.length) {
    throw new DependencyError(
      `the database has schema version ${version}, this program knows up to ` +
        `${MIGRATIONS.length}: it was written by a newer version; start that one`,
      { retriable: false },
    )
  }
  return version
}

/** Waits for the lock; one that a crashed process left behind is free when its lease has ended. */
async function underLock(
  meta: Meta,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
  work: () => Promise<void>,
): Promise<void> {
  const owner = randomUUID()
  while (!(await takeLock(meta, owner, clock))) await pause(LOCK_POLL_MS, undefined, { signal })
  try {
    await work()
  } finally {
    await meta.deleteOne({ _id: 'migration-lock', owner })
  }
}

async function takeLock(meta: Meta, owner: string, clock: Clock): Promise<boolean> {
  const now = clock.now()
  try {
    await meta.updateOne(
      { _id: 'migration-lock', until: { $lte: new Date(now) } },
      { $set: { owner, until: new Date(now + LEASE_MS) } },
      { upsert: true },
    )
    return true
  } catch (error) {
    // Held: the filter found no ended lease, and the insert met the document that is there.
    if (isDuplicateKey(error)) return false
    throw error
  }
}

async function makeIndexes(collections: Collections): Promise<void> {
  const { operators, sessions, keys, deviceSettings } = collections
  await operators.createIndexes([
    { name: 'email', key: { emailLowerCase: 1 }, unique: true },
    { name: 'first', key: { first: 1 }, unique: true, sparse: true },
    { name: 'account', key: { accountId: 1 } },
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
  await deviceStatuses.createIndexes([{ name: 'device', key: { accountId: 1, deviceId: 1 } }])
}
