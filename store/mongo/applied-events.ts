import { eventIdOf } from '../../schemas/event-id.ts'
import type { AppliedEvents } from '../../schemas/read-models.ts'
import type { ProjectionEntry } from '../read-models.ts'
import type { ReadModelCollections } from './collections.ts'
import { isDuplicateKey } from './driver-errors.ts'

type Applied = Pick<ReadModelCollections, 'applied'>

/** Notes the last of a partition's entries, unless a later one is noted already. */
export async function noteApplied(
  { applied }: Applied,
  entries: readonly ProjectionEntry[],
): Promise<void> {
  const last = entries.at(-1)
  if (last === undefined) return
  const { partition, offset } = last.origin
  try {
    await applied.updateOne(
      { _id: partition, offset: { $lt: offset } },
      { $set: { offset, id: eventIdOf(last.event) } },
      { upsert: true },
    )
  } catch (error) {
    // The filter found no earlier one, and the insert met the document that is there.
    if (!isDuplicateKey(error)) throw error
  }
}

export async function lastApplied({ applied }: Applied): Promise<AppliedEvents> {
  const events = await applied.find().toArray()
  return Object.fromEntries(events.map(({ _id, offset, id }) => [_id, { offset, id }]))
}
