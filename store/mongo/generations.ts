import { randomUUID } from 'node:crypto'
import type { Db } from 'mongodb'
import { backOff } from '../../runtime/process/repeat.ts'
import { DependencyError } from '../../runtime/errors.ts'
import type { Rebuild } from '../generations.ts'
import {
  openReadModels,
  type Collections,
  type ReadModelCollections,
  sealReadModels,
} from './collections.ts'
import { dependencyError } from './driver-errors.ts'
import { sweepApplied } from './hidden-devices.ts'
import { awaitAnswer, cacheResult } from './mongo-client.ts'
import { releaseLock, renewLock, takeLock, type LockClock, type Lock } from './lock.ts'
import { inheritRetention } from './retention.ts'
import { generationsOf, makeReadModelIndexes } from './schema.ts'

const LOOK_EVERY_MS = 500
const READERS_STAY_MS = 1_000
const LEASE_MS = 30_000
const RENEW_EVERY_MS = 5_000
const SWITCHED_WITHIN_MS = 5_000
const ENDED_WITHIN_MS = 30_000

export type FollowedGeneration = {
  /** The current generation, read from the database now. */
  number(): Promise<number>
  /** The read models of the current generation, from shortly after the switch to it. */
  readModels(): Promise<ReadModelCollections>
}

/**
 * Asks the database for the current generation, at most every half second. After a switch,
 * projectors leave the old generation immediately and readers a second later: by then the new one
 * has the old one's last writes, so nothing disappears in between.
 */
export function followGeneration(db: Db, meta: Collections['meta']): FollowedGeneration {
  let used: number | undefined
  let newer: { readonly generation: number; readonly since: number } | undefined

  async function number(): Promise<number> {
    return (await generationsOf(meta)).generation
  }

  async function look(): Promise<void> {
    const generation = await number()
    const now = performance.now()
    used ??= generation
    if (generation === used) newer = undefined
    else if (newer?.generation !== generation) newer = { generation, since: now }
    else if (now - newer.since >= READERS_STAY_MS) used = generation
  }

  const looked = cacheResult(look, { forMs: LOOK_EVERY_MS })

  return {
    number,

    async readModels() {
      await looked()
      return openReadModels(db, used ?? (await number()))
    },
  }
}

/** The collections of a generation that is current or being built. */
export async function openGeneration(
  db: Db,
  meta: Collections['meta'],
  generation: number,
): Promise<ReadModelCollections> {
  const { generation: inUse, newest } = await generationsOf(meta)
  if (generation !== inUse && generation !== newest) {
    throw new DependencyError(`generation ${generation} of the read models has been removed`, {
      retriable: true,
    })
  }
  return openReadModels(db, generation)
}

/** Whether these statuses belong to the current generation, and no other is being built. */
export async function isOnlyGeneration(
  meta: Collections['meta'],
  { collectionName }: ReadModelCollections['deviceStatuses'],
): Promise<boolean> {
  const { generation = 1, building } = (await meta.findOne({ _id: 'read-models' })) ?? {}
  return building === undefined && collectionName === `device_status_g${generation}`
}

/**
 * Starts a rebuild under a lease. The lease only keeps other rebuilds away; safety comes from the
 * unique number of each rebuild, of which only the newest can become current.
 */
export async function beginRebuild(
  db: Db,
  { meta, hiddenDevices }: Pick<Collections, 'meta' | 'hiddenDevices'>,
  { clock }: { clock: LockClock },
): Promise<Rebuild | undefined> {
  const lock: Lock = { name: 'rebuild-lock', owner: randomUUID(), leaseMs: LEASE_MS }
  if (!(await takeLock(meta, lock, clock))) return undefined
  const { from, to } = await nextGeneration(meta)
  await sealReadModels(db, (generation) => generation < to && generation !== from)
  const readModels = openReadModels(db, to)
  await makeReadModelIndexes(readModels)
  await inheritRetention(readModels, openReadModels(db, from))

  const lost = new AbortController()
  const renewing = setInterval(() => {
    // The next renewal makes up for a failed one, long before the lease ends.
    renewLock(meta, lock, clock).then(
      (ours) => ours || lost.abort(),
      () => undefined,
    )
  }, RENEW_EVERY_MS)

  return {
    from,
    to,
    lost: lost.signal,

    async settleErasures() {
      const { deviceStatuses } = openReadModels(db, from)
      await sweepApplied({ hiddenDevices, deviceStatuses })
    },

    async switchOver() {
      // It may have been changed since the start of the rebuild.
      await inheritRetention(readModels, openReadModels(db, from))
      const switching = meta.updateOne(
        { _id: 'read-models', generation: from, newest: to, building: to },
        { $set: { generation: to }, $unset: { building: '' } },
      )
      try {
        const { matchedCount } = await awaitAnswer(switching, SWITCHED_WITHIN_MS, 'switchOver')
        if (matchedCount === 0) throw takenOverError()
      } catch (error) {
        // It timed out, but may have succeeded; make sure that it cannot succeed later.
        if ((await stopBuilding(meta, to)) !== to) throw error
      }
    },

    async end() {
      clearInterval(renewing)
      await repeatBriefly(async () => {
        const inUse = await stopBuilding(meta, to)
        await sealReadModels(db, (one) => (one === from || one === to) && one !== inUse)
        await releaseLock(meta, lock)
      })
    },
  }
}

/** A server that pauses briefly must not fail a rebuild that has already switched. */
async function repeatBriefly(work: () => Promise<void>): Promise<void> {
  const pauses = backOff({ firstMs: 200, longestMs: 2_000 })
  const deadline = performance.now() + ENDED_WITHIN_MS
  for (;;) {
    try {
      return await work()
    } catch (cause) {
      const error = dependencyError(cause)
      const mayRetry = error instanceof DependencyError && error.retriable
      if (!mayRetry || performance.now() > deadline) throw cause
      await pauses.pause()
    }
  }
}

/**
 * Makes a later switch to this generation impossible: from now on it is current or never will be.
 * Returns the current generation.
 */
async function stopBuilding(meta: Collections['meta'], generation: number): Promise<number> {
  await meta.updateOne({ _id: 'read-models', building: generation }, { $unset: { building: '' } })
  return (await generationsOf(meta)).generation
}

async function nextGeneration(meta: Collections['meta']): Promise<{ from: number; to: number }> {
  const { generation, newest } = await generationsOf(meta)
  const to = newest + 1
  const { matchedCount } = await meta.updateOne(
    { _id: 'read-models', generation, newest },
    { $set: { newest: to, building: to } },
  )
  if (matchedCount === 0) throw takenOverError()
  return { from: generation, to }
}

function takenOverError(): DependencyError {
  return new DependencyError('another rebuild has taken over', { retriable: false })
}
