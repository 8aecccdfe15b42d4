import { DependencyError } from '../../runtime/errors.ts'
import { deviceKey } from '../../schemas/position-reported.ts'
import type { Origin } from '../../schemas/read-models.ts'
import type { PositionEntry } from '../read-models.ts'
import type { PositionDocument, ReadModelCollections } from './collections.ts'
import { storedDevices } from './device-statuses.ts'
import { duplicatesOf } from './driver-errors.ts'
import { isErased } from './erased.ts'
import { positionDocument, recordKey } from './position-documents.ts'

type Positions = ReadModelCollections['positions']

/** What a stored record says of where it comes from. */
type Provenance = Pick<PositionDocument, '_id' | 'origin' | 'receivedAt'>

/**
 * Stores the entries' records. Gives the entries that count, those whose stored record is the one
 * that this very event made, now or before a crash; and how many were stored now.
 * @throws {DependencyError} retriable when a record that is there cannot be read back yet.
 */
export async function storeRecords(
  { positions, deviceStatuses }: ReadModelCollections,
  entries: readonly PositionEntry[],
): Promise<{ readonly counting: readonly PositionEntry[]; readonly stored: number }> {
  // Of copies within one batch only the first is sent: an unordered write promises no order.
  const documents = new Map<string, PositionDocument>()
  for (const entry of entries) {
    const document = positionDocument(entry)
    if (!documents.has(document._id)) documents.set(document._id, document)
  }
  const owners = new Map(Array.from(documents, ([id, { origin }]) => [id, origin]))
  const repeats = await insert(positions, [...documents.values()])
  const found = await readBack(positions, repeats)
  const erased = await erasedAmong(deviceStatuses, repeats, found)
  await replaceErased(positions, erased, found)
  for (const { _id } of repeats) {
    const owner = found.get(_id)?.origin
    if (owner !== undefined && !erased.some((document) => document._id === _id)) {
      owners.set(_id, owner)
    }
  }
  return {
    counting: entries.filter(({ event, origin }) => isSame(owners.get(recordKey(event)), origin)),
    stored: documents.size - repeats.length + erased.length,
  }
}

/** Of repeats those whose stored record is erased, and still there because somebody wrote it late. */
async function erasedAmong(
  statuses: ReadModelCollections['deviceStatuses'],
  repeats: readonly PositionDocument[],
  found: ReadonlyMap<string, Provenance>,
): Promise<PositionDocument[]> {
  const foreign = repeats.filter(({ _id, origin }) => !isSame(found.get(_id)?.origin, origin))
  const devices = await storedDevices(statuses, foreign)
  return foreign.filter((document) => {
    const stored = found.get(document._id)
    if (stored === undefined) return false
    const receivedAt = stored.receivedAt.getTime()
    const { origin } = stored
    return isErased(devices.get(deviceKey(document))?.erased, { origin, receivedAt })
  })
}

/** Puts records in the place of erased ones, which are taken away by their own origin only. */
async function replaceErased(
  positions: Positions,
  documents: readonly PositionDocument[],
  found: ReadonlyMap<string, Provenance>,
): Promise<void> {
  if (documents.length === 0) return
  await removeRecords(
    positions,
    documents.map((document) => ({
      ...document,
      origin: found.get(document._id)?.origin ?? document.origin,
    })),
  )
  if ((await insert(positions, documents)).length === 0) return
  throw new DependencyError('erased records keep being written by another projector', {
    retriable: true,
  })
}

/** Removes records, each only while it is the one that was made by its event in the log. */
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

/** Takes the records of these entries away again; a repeat's record that is another's stays. */
export async function withdrawRecords(
  positions: Positions,
  entries: readonly PositionEntry[],
): Promise<void> {
  await removeRecords(positions, entries.map(positionDocument))
}

/** Gives the documents whose `_id` is taken; they are not written. */
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
  const found = await positions
    .find(
      {
        _id: { $in: documents.map(({ _id }) => _id) },
        accountId: { $in: unique(documents.map(({ accountId }) => accountId)) },
        deviceId: { $in: unique(documents.map(({ deviceId }) => deviceId)) },
      },
      { hint: { _id: 1 } },
    )
    .project<Provenance>({ origin: 1, receivedAt: 1 })
    .toArray()
  const records = new Map(found.map((record) => [record._id, record]))
  // Another projector's write that no majority has yet, or one that retention took just now.
  const unseen = documents.find(({ _id }) => !records.has(_id))
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
