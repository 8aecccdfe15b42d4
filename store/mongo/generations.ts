import { randomUUID } from 'node:crypto'
import type { Db } from 'mongodb'
import { DependencyError } from '../../runtime/errors.ts'
import type { Rebuild } from '../read-models.ts'
import { openReadModels, type Collections, type ReadModelCollections } from './collections.ts'
import { sweepApplied } from './hidden-devices.ts'
import { releaseLock, renewLock, takeLock, type Clock, type Lock } from './lock.ts'
import { setRetention } from './retention.ts'
import { generationsOf, makeReadModelIndexes } from './schema.ts'
import { removeReadModelsExcept } from './sealed-collections.ts'

const LOOK_EVERY_MS = 500
const READERS_STAY_MS = 1_000
const LEASE_MS = 30_000
const RENEW_EVERY_MS = 5_000

export type FollowedGeneration = {
  /** The generation in use, as the database says now. */
  number(): Promise<number>
  /** What is to be read and written: the generation in use, a moment after it was put in use. */
  readModels(): Promise<ReadModelCollections>
}

/**
 * Asks the database for the generation in use, at most every half second. Projectors leave the one
 * before at once and readers a second later: by then the new one holds what was last written to it,
 * so what could be read does not vanish for a moment.
 */
export function followedGeneration(db: Db, meta: Collections['meta']): FollowedGeneration {
  let used: number | undefined
  let newer: { readonly generation: number; readonly since: number } | undefined
  let asked: { readonly answer: Promise<void>; until: number } | undefined

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

  return {
    number,

    async readModels() {
      const now = performance.now()
      if (asked === undefined || now >= asked.until) {
        const current = { answer: look(), until: now + LOOK_EVERY_MS }
        asked = current
        // The next one asks again.
        current.answer.catch(() => (current.until = 0))
      }
      await asked.answer
      return openReadModels(db, used ?? (await number()))
    },
  }
}

/** The collections of a generation that is in use or being built. */
export async function openedGeneration(
  db: Db,
  meta: Collections['meta'],
  generation: number,
): Promise<ReadModelCollections> {
  const { generation: inUse, newest } = await generationsOf(meta)
  if (generation !== inUse && generation !== newest) {
    throw new DependencyError(`generation ${generation} of the read models is gone`, {
      retriable: true,
    })
  }
  return openReadModels(db, generation)
}

/**
 * Begins a rebuild under a lease. The lease only keeps others away; what makes it safe is that each
 * has a number of its own, and only the newest can be put in use.
 */
export async function beginRebuild(
  db: Db,
  { meta, hiddenDevices }: Pick<Collections, 'meta' | 'hiddenDevices'>,
  { clock, retentionDays }: { clock: Clock; retentionDays: number | undefined },
): Promise<Rebuild | undefined> {
  const lock: Lock = { name: 'rebuild-lock', owner: randomUUID(), leaseMs: LEASE_MS }
  if (!(await takeLock(meta, lock, clock))) return undefined
  const { from, to } = await nextGeneration(meta)
  await removeReadModelsExcept(db, [from, to])
  const readModels = openReadModels(db, to)
  await makeReadModelIndexes(readModels)
  await setRetention(readModels, retentionDays)

  const lost = new AbortController()
  const renewing = setInterval(() => {
    // One that fails is made up for by the next, long before the lease ends.
    renewLock(meta, lock, clock).then(
      (ours) => ours || lost.abort(),
      () => undefined,
    )
  }, RENEW_EVERY_MS)

  return {
    from,
    to,
    lost: lost.signal,

    async switchOver() {
      const { deviceStatuses } = openReadModels(db, from)
      await sweepApplied({ hiddenDevices, deviceStatuses })
      const { matchedCount } = await meta.updateOne(
        { _id: 'read-models', generation: from, newest: to },
        { $set: { generation: to } },
      )
      if (matchedCount === 0) throw takenOver()
    },

    async end() {
      clearInterval(renewing)
      const { generation, newest } = await generationsOf(meta)
      // What another rebuild builds by now is not this one's to remove.
      await removeReadModelsExcept(db, newest === to ? [generation] : [generation, newest])
      await releaseLock(meta, lock)
    },
  }
}

async function nextGeneration(meta: Collections['meta']): Promise<{ from: number; to: number }> {
  const { generation, newest } = await generationsOf(meta)
  const first = { generation, newest: { $exists: false } }
  const { matchedCount } = await meta.updateOne(
    { _id: 'read-models', $or: [{ newest }, ...(newest === generation ? [first] : [])] },
    { $set: { newest: newest + 1 } },
  )
  if (matchedCount === 0) throw takenOver()
  return { from: generation, to: newest + 1 }
}

function takenOver(): DependencyError {
  return new DependencyError('another rebuild has taken over', { retriable: false })
}
