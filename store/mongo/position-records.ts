import type { Filter } from 'mongodb'
import { DependencyError } from '../../runtime/errors.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import type { Origin, PositionRecord } from '../../schemas/read-models.ts'
import type { ReadModels } from '../store.ts'
import type { PositionDocument, ReadModelCollections } from './collections.ts'
import { duplicatesOf } from './driver-errors.ts'

export type Entry = { readonly origin: Origin; readonly event: PositionReported }

type Positions = ReadModelCollections['positions']

/**
 * Stores the entries' records. Gives the entries that count, those whose stored record is the one
 * that this very event made, now or before a crash; and how many were stored now.
 * @throws {DependencyError} retriable when a record that is there cannot be read back yet.
 */
export async function storeRecords(
  positions: Positions,
  entries: readonly Entry[],
): Promise<{ readonly counting: readonly Entry[]; readonly stored: number }> {
  const owners = new Map<string, Origin>()
  const documents: PositionDocument[] = []
  for (const entry of entries) {
    const document = positionDocument(entry)
    // Of copies within one batch only the first is sent: an unordered write promises no order.
    if (owners.has(document._id)) continue
    owners.set(document._id, entry.origin)
    documents.push(document)
  }
  const repeats = await insert(positions, documents)
  for (const [id, origin] of await originsOf(positions, repeats)) owners.set(id, origin)
  return {
    counting: entries.filter(({ event, origin }) => {
      const owner = owners.get(recordKey(event))
      return owner?.partition === origin.partition && owner.offset === origin.offset
    }),
    stored: documents.length - repeats.length,
  }
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

async function originsOf(
  positions: Positions,
  documents: readonly PositionDocument[],
): Promise<Map<string, Origin>> {
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
    .project<{ _id: string; origin: Origin }>({ origin: 1 })
    .toArray()
  const origins = new Map(found.map(({ _id, origin }) => [_id, origin]))
  // Another projector's write that no majority has yet, or one that retention took just now.
  const unseen = documents.find(({ _id }) => !origins.has(_id))
  if (unseen !== undefined) {
    throw new DependencyError(`the stored record ${unseen._id} cannot be read back yet`, {
      retriable: true,
    })
  }
  return origins
}

export async function findPosition(
  positions: Positions,
  { accountId, recordId }: Parameters<ReadModels['findPosition']>[0],
  kept: Filter<PositionDocument>,
): Promise<PositionRecord | undefined> {
  const document = await positions.findOne({
    ...kept,
    _id: recordKey({ accountId, recordId }),
    accountId,
  })
  return document === null ? undefined : positionRecord(document)
}

/** One walk along the index by (account, device, timestamp, _id), in either direction. */
export async function pagePositions(
  positions: Positions,
  query: Parameters<ReadModels['pagePositions']>[0],
  kept: Filter<PositionDocument>,
): Promise<PositionRecord[]> {
  const { accountId, deviceId, from, to, order, limit, after } = query
  const ahead = order === 'asc' ? '$gt' : '$lt'
  const direction = order === 'asc' ? 1 : -1
  const bounds: Filter<PositionDocument>[] = [kept]
  if (from !== undefined) bounds.push({ timestamp: { $gte: new Date(from) } })
  if (to !== undefined) bounds.push({ timestamp: { $lt: new Date(to) } })
  if (after !== undefined) {
    const timestamp = new Date(after.timestamp)
    const _id = recordKey({ accountId, recordId: after.recordId })
    // The first of the two is implied by the second; alone it lets the index begin at the place.
    bounds.push({ timestamp: { [`${ahead}e`]: timestamp } })
    bounds.push({ $or: [{ timestamp: { [ahead]: timestamp } }, { _id: { [ahead]: _id } }] })
  }
  const documents = await positions
    .find({ accountId, deviceId, $and: bounds })
    .sort({ timestamp: direction, _id: direction })
    .limit(limit)
    .toArray()
  return documents.map(positionRecord)
}

function positionDocument({ origin, event }: Entry): PositionDocument {
  const { recordId, ...fields } = event
  return {
    ...fields,
    _id: recordKey({ accountId: fields.accountId, recordId }),
    timestamp: new Date(fields.timestamp),
    receivedAt: new Date(fields.receivedAt),
    origin,
  }
}

export function positionRecord({ _id, ...fields }: PositionDocument): PositionRecord {
  return {
    ...fields,
    recordId: _id.slice(fields.accountId.length + 1),
    timestamp: fields.timestamp.getTime(),
    receivedAt: fields.receivedAt.getTime(),
  }
}

/** Record ids are unique within an account; account ids hold no slash. */
function recordKey({ accountId, recordId }: { accountId: string; recordId: string }): string {
  return `${accountId}/${recordId}`
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)]
}
