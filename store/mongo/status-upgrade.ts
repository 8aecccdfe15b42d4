import type { Collection, Document } from 'mongodb'
import type { DeviceStatusDocument } from './collections.ts'
import { isNamespaceMissing } from './driver-errors.ts'

type DeviceStatuses = Collection<DeviceStatusDocument>

const COMPLETED_AT_ONCE = 1_000
const WITHOUT_RECEIPT = {
  lastSeenAt: { $exists: true },
  lastReceivedAt: { $exists: false },
} as const

/** Removes the indexes that version 0.2.0 made with other fields: one of them has a name of today. */
export async function dropOlderIndexes(statuses: DeviceStatuses): Promise<void> {
  for (const { name, key } of await indexesOf(statuses)) {
    const isOlder = name === 'seen' || (name === 'last_seen' && !('lastReceivedAt' in key))
    if (isOlder) await statuses.dropIndex(name)
  }
}

/**
 * Adds the time of the last receipt to statuses of version 0.2.0, where it was the same as that of the last
 * sighting. Every process does this when it starts: while projectors are upgraded one after the other, those
 * of 0.2.0 still write such statuses.
 */
export async function addReceipts(statuses: DeviceStatuses): Promise<void> {
  for (;;) {
    const some = await statuses
      .find(WITHOUT_RECEIPT)
      .limit(COMPLETED_AT_ONCE)
      .project<{ _id: string }>({ _id: 1 })
      .toArray()
    if (some.length === 0) return
    await statuses.updateMany({ ...WITHOUT_RECEIPT, _id: { $in: some.map(({ _id }) => _id) } }, [
      { $set: { lastReceivedAt: '$lastSeenAt' } },
    ])
  }
}

/** Whether the collection has an index of this name. */
export async function hasIndex<T extends Document>(
  collection: Collection<T>,
  name: string,
): Promise<boolean> {
  return (await indexesOf(collection)).some((index) => index.name === name)
}

async function indexesOf<T extends Document>(
  collection: Collection<T>,
): Promise<readonly { readonly name: string; readonly key: object }[]> {
  try {
    return (await collection.listIndexes().toArray()) as { name: string; key: object }[]
  } catch (error) {
    // A new database has no collections.
    if (isNamespaceMissing(error)) return []
    throw error
  }
}
