import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Collections, LockName } from './collections.ts'
import { isDuplicateKey } from './driver-errors.ts'

export type Clock = { now(): number }

type Meta = Collections['meta']

const MIGRATION_LEASE_MS = 60_000
const LOCK_POLL_MS = 50

/** Waits for the lock; one that a crashed process left behind is free when its lease has ended. */
export async function underLock(
  meta: Meta,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
  work: () => Promise<void>,
): Promise<void> {
  const lock = { name: 'migration-lock', owner: randomUUID(), leaseMs: MIGRATION_LEASE_MS } as const
  while (!(await takeLock(meta, lock, clock))) await pause(LOCK_POLL_MS, undefined, { signal })
  try {
    await work()
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
