import { eventIdOf } from '../../schemas/appended-event.ts'
import type { AppliedEvents } from '../../schemas/read-models.ts'
import type { FoldVersion } from '../generations.ts'
import type { ProjectionBatch } from '../read-models.ts'
import type { ReadModelCollections } from './collections.ts'
import { isDuplicateKey } from './driver-errors.ts'

type Applied = Pick<ReadModelCollections, 'applied'>

/** Records a partition's last entry and the version of its fold, unless a later entry is recorded already. */
export async function noteApplied(
  { applied }: Applied,
  { entries, foldVersion }: Pick<ProjectionBatch, 'entries' | 'foldVersion'>,
): Promise<void> {
  const last = entries.at(-1)
  if (last === undefined) return
  const { partition, offset } = last.origin
  const isFirst = { $eq: [{ $type: '$offset' }, 'missing'] }
  const isSame = { $eq: ['$fold', foldVersion] }
  const fold = { $cond: [{ $or: [isFirst, isSame] }, foldVersion, null] }
  try {
    await applied.updateOne(
      { _id: partition, offset: { $lt: offset } },
      [{ $set: { offset, id: { $literal: eventIdOf(last.event) }, fold } }],
      { upsert: true },
    )
  } catch (error) {
    // A later entry is recorded: the filter did not match it, and the insert collided with it.
    if (!isDuplicateKey(error)) throw error
  }
}

export async function lastApplied({ applied }: Applied): Promise<AppliedEvents> {
  const events = await applied.find().toArray()
  return Object.fromEntries(events.map(({ _id, offset, id }) => [_id, { offset, id }]))
}

/** The version of the fold that all partitions were projected with; undefined if none has been. */
export async function foldVersion({ applied }: Applied): Promise<FoldVersion | undefined> {
  const [first, ...others] = await applied.find().toArray()
  if (first === undefined) return undefined
  return others.every(({ fold }) => fold === first.fold) ? (first.fold ?? 'mixed') : 'mixed'
}
