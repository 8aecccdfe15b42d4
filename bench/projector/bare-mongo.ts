import type { Db } from 'mongodb'
import { stopwatch, type Speed } from './speed.ts'

type Document = { readonly _id: string }

/** The documents of one batch. */
export type Documents = {
  readonly positions: readonly Document[]
  readonly statuses: readonly Document[]
}

/**
 * Writes the documents with the driver alone, in two calls a batch: new positions, then statuses,
 * each by its id. `collections`: their names.
 */
export async function writeDocuments(
  batches: readonly Documents[],
  db: Db,
  collections: { readonly positions: string; readonly deviceStatuses: string },
): Promise<Speed> {
  const positions = db.collection<Document>(collections.positions)
  const deviceStatuses = db.collection<Document>(collections.deviceStatuses)
  const watch = stopwatch()
  for (const batch of batches) {
    await positions.insertMany(batch.positions, { ordered: false })
    await deviceStatuses.bulkWrite(
      batch.statuses.map(({ _id, ...replacement }) => ({
        replaceOne: { filter: { _id }, replacement, upsert: true },
      })),
      { ordered: false },
    )
    watch.count(batch.positions.length)
  }
  return watch.read()
}
