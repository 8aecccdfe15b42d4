import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Collections, LockName } from './collections.ts'
import { isDuplicateKey } from './driver-errors.ts'

export type LockClock = { now(): number }

type Meta = Collections['meta']

const LOCK_POLL_MS = 50

/**
 * Waits for the lock and works under it; long work must renew it. A crashed owner's lock is free
 * when its lease ends. Rejects without working when `signal` is aborted first.
 */
export async function runUnderLock<T>(
  meta: Meta,
  {
    clock,
    signal,
    ...kind
  }: Pick<Lock, 'name' | 'leaseMs'> & { readonly clock: LockClock; readonly signal: AbortSignal },
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

/** Acquires the lock if it is free or its lease has ended; returns whether it did. */
export async function takeLock(
  meta: Meta,
  { name, owner, leaseMs }: Lock,
  clock: LockClock,
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
    // The lock is held: the filter matched no expired lease, and the insert collided with the
    // document.
    if (isDuplicateKey(error)) return false
    throw error
  }
}

/** Renews the lease; returns whether this owner still had the lock. */
export async function renewLock(
  meta: Meta,
  { name, owner, leaseMs }: Lock,
  clock: LockClock,
): Promise<boolean> {
  const until = new Date(clock.now() + leaseMs)
  const { matchedCount } = await meta.updateOne({ _id: name, owner }, { $set: { until } })
  return matchedCount === 1
}

export async function releaseLock(meta: Meta, { name, owner }: Lock): Promise<void> {
  await meta.deleteOne({ _id: name, owner })
}
