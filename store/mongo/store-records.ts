import type { Filter } from 'mongodb'
import { DependencyError } from '../../runtime/errors.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { Origin } from '../../schemas/devices/read-models.ts'
import type { PositionEntry } from '../read-models.ts'
import { READ, type PositionDocument, type ReadModelCollections } from './collections.ts'
import { storedDevices } from './device-statuses.ts'
import { duplicatesOf } from './driver-errors.ts'
import { isErased } from './erased.ts'
import { positionDocument, recordKey } from './position-documents.ts'

type Positions = ReadModelCollections['positions']

/** The origin of a stored record. */
type Provenance = Pick<PositionDocument, '_id' | 'accountId' | 'deviceId' | 'origin' | 'receivedAt'>

/**
 * Stores the entries' records. Returns the entries that count: those whose stored record was
 * written by this very event, now or before a crash.
 * @throws {DependencyError} retriable when an existing record cannot be read yet.
 */
export async function storeRecords(
  { positions, deviceStatuses }: ReadModelCollections,
  entries: readonly PositionEntry[],
): Promise<readonly PositionEntry[]> {
  // Only the first of several copies in a batch is sent: unordered writes guarantee no order.
  const documents = new Map<string, PositionDocument>()
  for (const entry of entries) {
    const document = positionDocument(entry)
    if (!documents.has(document._id)) documents.set(document._id, document)
  }
  const owners = new Map(Array.from(documents, ([id, { origin }]) => [id, origin]))
  const repeats = await insert(positions, [...documents.values()])
  const stored = await readBack(positions, repeats)
  const erased = await findErased(deviceStatuses, repeats, stored)
  await replaceErased(positions, erased, stored)
  for (const { _id } of repeats) {
    const owner = stored.get(_id)?.origin
    if (owner !== undefined && !erased.some((document) => document._id === _id)) {
      owners.set(_id, owner)
    }
  }
  return entries.filter(({ event, origin }) => isSame(owners.get(recordKey(event)), origin))
}

/** The repeats whose stored record is erased, but exists because it was written late. */
async function findErased(
  statuses: ReadModelCollections['deviceStatuses'],
  repeats: readonly PositionDocument[],
  found: ReadonlyMap<string, Provenance>,
): Promise<PositionDocument[]> {
  const foreign = repeats.filter(({ _id, origin }) => !isSame(found.get(_id)?.origin, origin))
  // The stored record may be another device's; then that device's erasure counts.
  const stored = foreign.flatMap(({ _id }) => found.get(_id) ?? [])
  const devices = await storedDevices(statuses, stored)
  return foreign.filter((document) => {
    const record = found.get(document._id)
    if (record === undefined) return false
    const { origin } = record
    const receivedAt = record.receivedAt.getTime()
    return isErased(devices.get(deviceKey(record))?.erased, { origin, receivedAt })
  })
}

/** Replaces erased records, each removed only if it still has its own origin. */
async function replaceErased(
  positions: Positions,
  documents: readonly PositionDocument[],
  found: ReadonlyMap<string, Provenance>,
): Promise<void> {
  if (documents.length === 0) return
  await removeRecords(
    positions,
    documents.map((document) => found.get(document._id) ?? document),
  )
  if ((await insert(positions, documents)).length === 0) return
  throw new DependencyError('another projector keeps writing erased records', {
    retriable: true,
  })
}

/** Removes records, each only if it was written for its event in the log. */
async function removeRecords(
  positions: Positions,
  records: readonly Pick<PositionDocument, '_id' | 'accountId' | 'deviceId' | 'origin'>[],
): Promise<void> {
  if (records.length === 0) return
  await positions.bulkWrite(
    records.map(({ _id, accountId, deviceId, origin: { partition, offset } }) => ({
      deleteOne: {
        filter: {
          _id,
          accountId,
          deviceId,
          'origin.partition': partition,
          'origin.offset': offset,
        },
      },
    })),
    { ordered: false },
  )
}

/**
 * Removes the records of these entries; the record of another event that an entry repeats remains.
 */
export async function withdrawRecords(
  positions: Positions,
  entries: readonly PositionEntry[],
): Promise<void> {
  await removeRecords(positions, entries.map(positionDocument))
}

/** Returns the documents whose `_id` is taken, which are not written. */
async function insert(
  positions: Positions,
  documents: readonly PositionDocument[],
): Promise<PositionDocument[]> {
  if (documents.length === 0) return []
  try {
    await positions.insertMany(documents, { ordered: false })
    return []
  } catch (error) {
    const refused = duplicatesOf(error)
    if (refused === undefined) throw error
    return refused.flatMap((index) => documents[index] ?? [])
  }
}

async function readBack(
  positions: Positions,
  documents: readonly PositionDocument[],
): Promise<Map<string, Provenance>> {
  if (documents.length === 0) return new Map()
  const read = (wanted: readonly PositionDocument[], filter: Filter<PositionDocument>) =>
    positions
      .find(
        {
          ...filter,
          _id: { $in: wanted.map(({ _id }) => _id) },
          accountId: { $in: unique(wanted.map(({ accountId }) => accountId)) },
        },
        { hint: { _id: 1 }, ...READ },
      )
      .project<Provenance>({ accountId: 1, deviceId: 1, origin: 1, receivedAt: 1 })
      .toArray()
  const devices = { $in: unique(documents.map(({ deviceId }) => deviceId)) }
  const records = new Map(
    (await read(documents, { deviceId: devices })).map((record) => [record._id, record]),
  )
  // Another device has this recordId: nothing of ours creates that, but it must not block
  // projecting.
  const unread = documents.filter(({ _id }) => !records.has(_id))
  if (unread.length > 0) {
    for (const record of await read(unread, {})) records.set(record._id, record)
  }
  // A write by another projector without a majority yet, or a record that retention has just
  // deleted.
  const unseen = unread.find(({ _id }) => !records.has(_id))
  if (unseen !== undefined) {
    throw new DependencyError(`the stored record ${unseen._id} cannot be read back yet`, {
      retriable: true,
    })
  }
  return records
}

function isSame(one: Origin | undefined, other: Origin): boolean {
  return one?.partition === other.partition && one.offset === other.offset
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)]
}
