import { eventIdOf } from '../../schemas/appended-event.ts'
import type { AppliedEvents } from '../../schemas/read-models.ts'
import type { ProjectionEntry } from '../read-models.ts'
import type { ReadModelCollections } from './collections.ts'
import { isDuplicateKey } from './driver-errors.ts'

type Applied = Pick<ReadModelCollections, 'applied'>

/** Records a partition's last entry, unless a later one is recorded already. */
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
    // A later entry is recorded: the filter did not match it, and the insert collided with it.
    if (!isDuplicateKey(error)) throw error
  }
}

export async function lastApplied({ applied }: Applied): Promise<AppliedEvents> {
  const events = await applied.find().toArray()
  return Object.fromEntries(events.map(({ _id, offset, id }) => [_id, { offset, id }]))
}
