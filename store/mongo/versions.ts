import type { Collection, Db } from 'mongodb'
import { isDuplicateKey } from './driver-errors.ts'

/** The last version assigned to a write of each kind; `_id` is the kind. */
type VersionsDocument = { readonly _id: string; readonly last: number }

export type Versions = {
  /** Reserves this many versions. Returns the first. */
  take(count: number): Promise<number>
}

/** A writer that takes longer may have its version seen out of order too: it takes another one. */
export const NUMBERED_WITHIN_MS = 20_000

export function versionsOf(db: Db, kind: string): Versions {
  const counters = db.collection<VersionsDocument>('back_office.versions')
  const raise = (count: number) =>
    counters.findOneAndUpdate(
      { _id: kind },
      { $inc: { last: count } },
      { upsert: true, returnDocument: 'after' },
    )
  return {
    async take(count) {
      const raised = await raise(count).catch((error: unknown) => {
        // Another process has created the first one in the meantime.
        if (!isDuplicateKey(error)) throw error
        return raise(count)
      })
      return (raised?.last ?? count) - count + 1
    },
  }
}

type Numbered = { readonly _id: string; readonly revision: number } & Readonly<
  Record<string, unknown>
>

/**
 * Writes documents with a version each. The order of versions is not that in which writes become
 * visible: between reserving 7 and writing with it, another process may reserve 8 and write.
 * Therefore followers read the versions of the last minute again, and a writer slower than
 * `NUMBERED_WITHIN_MS` (paused, or waiting for the database) gives its documents new versions. If
 * it is killed in between, followers see the change when they next read everything.
 */
export async function runUnderVersions<T>(
  versions: Versions,
  {
    collection,
    ids,
  }: { readonly collection: Collection<Numbered>; readonly ids: readonly string[] },
  write: (versions: readonly number[]) => Promise<T>,
): Promise<T> {
  let [began, first] = [performance.now(), await versions.take(ids.length)]
  const result = await write(ids.map((_, n) => first + n))
  while (performance.now() - began > NUMBERED_WITHIN_MS) {
    const before = first
    ;[began, first] = [performance.now(), await versions.take(ids.length)]
    await collection.bulkWrite(
      ids.map((_id, n) => ({
        updateOne: {
          filter: { _id, version: before + n },
          update: { $set: { version: first + n } },
        },
      })),
      { ordered: false },
    )
  }
  return result
}
