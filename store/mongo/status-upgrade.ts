import type { Collection, Document } from 'mongodb'
import type { DeviceStatusDocument, ReadModelCollections } from './collections.ts'
import { isNamespaceMissing } from './driver-errors.ts'
import { erasedRecords } from './erased.ts'
import { recordKey } from './position-documents.ts'

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

type Statuses = Pick<ReadModelCollections, 'positions' | 'deviceStatuses'>

const WITHOUT_KEY_TIME = {
  lastPosition: { $exists: true },
  lastReceivedAt: { $exists: true },
  lastKeyAt: { $exists: false },
} as const

/**
 * Adds to statuses of earlier versions when the device itself sent something last. These versions counted imports as
 * sent by the device: such a device is given the key of its newest record or heartbeat. Every process does this when
 * it starts, as with `addReceipts`.
 */
export async function addKeyTimes({ positions, deviceStatuses }: Statuses): Promise<void> {
  for (;;) {
    const some = await deviceStatuses.find(WITHOUT_KEY_TIME).limit(COMPLETED_AT_ONCE).toArray()
    if (some.length === 0) return
    const imports = await positions
      .find({
        _id: { $in: some.map(lastRecordKey) },
        accountId: { $in: [...new Set(some.map(({ accountId }) => accountId))] },
        imported: true,
      })
      .project<{ _id: string }>({ _id: 1 })
      .toArray()
    const imported = new Set(imports.map(({ _id }) => _id))
    const others = some.filter((status) => !imported.has(lastRecordKey(status)))
    await deviceStatuses.updateMany(
      { ...WITHOUT_KEY_TIME, _id: { $in: others.map(({ _id }) => _id) } },
      [
        {
          $set: {
            lastKeyAt: '$lastReceivedAt',
            lastKeyEventId: { $ifNull: ['$lastReceivedId', '$lastPosition.recordId'] },
          },
        },
      ],
    )
    for (const status of some) {
      if (!imported.has(lastRecordKey(status))) continue
      const { _id, accountId, deviceId, applied } = status
      await deviceStatuses.updateOne(
        { ...WITHOUT_KEY_TIME, _id, accountId, deviceId, applied },
        { $set: await lastSent(positions, status) },
      )
    }
  }
}

function lastRecordKey({ accountId, lastReceivedId, lastPosition }: DeviceStatusDocument): string {
  return recordKey({ accountId, recordId: lastReceivedId ?? lastPosition?.recordId ?? '' })
}

/** The newest of the device's heartbeats and records, without imported ones. */
async function lastSent(
  positions: Statuses['positions'],
  { accountId, deviceId, heartbeats = {}, erased }: DeviceStatusDocument,
) {
  const [newest] = await positions
    .find({
      accountId,
      deviceId,
      imported: { $exists: false },
      ...(erased !== undefined && { $nor: erasedRecords(erased) }),
    })
    .sort({ receivedAt: -1, _id: -1 })
    .limit(1)
    .toArray()
  const sent = Object.values(heartbeats).map(({ receivedAt, eventId = '', keyId = '' }) => ({
    lastKeyAt: receivedAt,
    lastKeyEventId: eventId,
    lastKeyId: keyId,
  }))
  if (newest !== undefined) {
    const { _id, receivedAt, keyId } = newest
    const lastKeyEventId = _id.slice(accountId.length + 1)
    sent.push({ lastKeyAt: receivedAt, lastKeyEventId, lastKeyId: keyId })
  }
  const [last] = sent.sort(
    (a, b) =>
      b.lastKeyAt.getTime() - a.lastKeyAt.getTime() ||
      (a.lastKeyEventId < b.lastKeyEventId ? 1 : -1),
  )
  return last ?? { lastKeyAt: new Date(0), lastKeyEventId: '', lastKeyId: '' }
}
