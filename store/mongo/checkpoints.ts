import { setTimeout as pause } from 'node:timers/promises'
import { eventIdOf } from '../../schemas/events/appended-event.ts'
import type { AppliedEvents, Offsets } from '../../schemas/devices/read-models.ts'
import type { FoldVersion } from '../generations.ts'
import { WentBackError, type ProjectionBatch } from '../projection-batch.ts'
import { READ, type CheckpointDocument, type ReadModelCollections } from './collections.ts'
import { isDuplicateKey } from './driver-errors.ts'

type Applied = Pick<ReadModelCollections, 'applied'>
type Found = CheckpointDocument | null

const CONFLICT_PAUSE_MS = 20

/** The last offset processed in each partition: everything up to there has been written. */
export async function checkpointOf({ applied }: Applied): Promise<Offsets> {
  const found = await applied.find({}, READ).toArray()
  return Object.fromEntries(found.map((document) => [document._id, readOffset(document)]))
}

/**
 * The checkpoint of a partition before a batch is written.
 * @throws {WentBackError} if it is before `after`.
 */
export async function findCheckpoint(
  { applied }: Applied,
  { partition, after = -1 }: Pick<ProjectionBatch, 'partition' | 'after'>,
): Promise<Found> {
  const found = await applied.findOne({ _id: partition }, READ)
  if (readOffset(found) < after)
    throw new WentBackError(partition, { from: after, to: readOffset(found) })
  return found
}

/**
 * Moves a partition's checkpoint to the end of a batch, after everything else of the batch has been
 * written, unless another projector has moved it further. Compares and sets, so that it never
 * passes entries that restored read models lack.
 */
export async function moveCheckpoint(
  readModels: Applied,
  batch: ProjectionBatch,
  before: Found,
): Promise<void> {
  let found = before
  while (readOffset(found) < batch.lastOffset) {
    if (await replace(readModels, found, batch)) return
    // The other projector's write is readable only once a majority has it.
    await pause(CONFLICT_PAUSE_MS)
    found = await findCheckpoint(readModels, batch)
  }
}

/** Whether the document was unchanged since it was read. */
async function replace(
  { applied }: Applied,
  found: Found,
  { partition, lastOffset, entries, foldVersion }: ProjectionBatch,
): Promise<boolean> {
  const last = entries.at(-1)
  // A placeholder until there is an event.
  const { offset, id } = found ?? { offset: -1, id: '' }
  const isLater = last !== undefined && last.origin.offset > offset
  const event = isLater ? { offset: last.origin.offset, id: eventIdOf(last.event) } : { offset, id }
  const fold = found === null || found.fold === foldVersion ? foldVersion : null
  const content = { upTo: lastOffset, ...event, fold }
  try {
    if (found === null) {
      await applied.insertOne({ _id: partition, ...content })
      return true
    }
    const asFound = { _id: partition, upTo: found.upTo, offset }
    return (await applied.updateOne(asFound, { $set: content })).matchedCount === 1
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}

export async function lastApplied({ applied }: Applied): Promise<AppliedEvents> {
  const found = await applied.find({}, READ).toArray()
  const events = found.filter(({ id }) => id !== '')
  return Object.fromEntries(events.map(({ _id, offset, id }) => [_id, { offset, id }]))
}

/** The version of the fold that all partitions were projected with; undefined if none has been. */
export async function foldVersion({ applied }: Applied): Promise<FoldVersion | undefined> {
  const [first, ...others] = await applied.find({}, READ).toArray()
  if (first === undefined) return undefined
  return others.every(({ fold }) => fold === first.fold) ? (first.fold ?? 'mixed') : 'mixed'
}

function readOffset(found: Found): number {
  return found?.upTo ?? -1
}
