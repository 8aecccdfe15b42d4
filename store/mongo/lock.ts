import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Collections, LockName } from './collections.ts'
import { isDuplicateKey } from './driver-errors.ts'

export type Clock = { now(): number }

type Meta = Collections['meta']

const LOCK_POLL_MS = 50

/**
 * Waits for the lock and works under it; long work has to renew it. One that a crashed process left behind is free when its
 * lease has ended. Rejects without having worked when `signal` is aborted before the lock is there.
 */
export async function underLock<T>(
  meta: Meta,
  {
    clock,
    signal,
    ...kind
  }: Pick<Lock, 'name' | 'leaseMs'> & { readonly clock: Clock; readonly signal: AbortSignal },
  work: (renewed: () => Promise<boolean>) => Promise<T>,
): Promise<T> {
  const lock = { ...kind, owner: randomUUID() }
  while (!(await takeLock(meta, lock, clock))) await pause(LOCK_POLL_MS, undefined, { signal })
  try {
    return await work(() => renewLock(meta, lock, clock))
  } finally {
    await releaseLock(meta, lock)
  }
}

export type Lock = { readonly name: LockName; readonly owner: string; readonly leaseMs: number }

/** Whether the lock is this owner's now, because it is free or its lease has ended. */
export async function takeLock(
  meta: Meta,
  { name, owner, leaseMs }: Lock,
  clock: Clock,
): Promise<boolean> {
  const now = clock.now()
  try {
    await meta.updateOne(
      { _id: name, until: { $lte: new Date(now) } },
      { $set: { owner, until: new Date(now + leaseMs) } },
      { upsert: true },
    )
    return true
  } catch (error) {
    // Held: the filter found no ended lease, and the insert met the document that is there.
    if (isDuplicateKey(error)) return false
    throw error
  }
}

/** Whether the lock still was this owner's; its lease begins anew then. */
export async function renewLock(
  meta: Meta,
  { name, owner, leaseMs }: Lock,
  clock: Clock,
): Promise<boolean> {
  const until = new Date(clock.now() + leaseMs)
  const { matchedCount } = await meta.updateOne({ _id: name, owner }, { $set: { until } })
  return matchedCount === 1
}

export async function releaseLock(meta: Meta, { name, owner }: Lock): Promise<void> {
  await meta.deleteOne({ _id: name, owner })
}
