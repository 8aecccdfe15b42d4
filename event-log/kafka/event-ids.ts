import { DependencyError } from '../../runtime/errors.ts'
import { eventIdOf } from '../../schemas/events/appended-event.ts'
import type { Offsets } from '../../schemas/devices/read-models.ts'
import type { TailItem } from '../event-log.ts'
import type { OffsetBounds } from './offsets.ts'

const WITHIN_MS = 15_000

/**
 * The ids of the events at these offsets. kafkajs cannot fetch without a group, so a separate
 * reader starts at each of these offsets, and at the end of every other partition.
 */
export async function eventIdsAt(
  offsets: Offsets,
  {
    bounds,
    tail,
  }: {
    bounds: () => Promise<readonly OffsetBounds[]>
    tail: (options: { after: Offsets; signal: AbortSignal }) => AsyncIterable<TailItem>
  },
): Promise<ReadonlyMap<number, string>> {
  const ids = new Map<number, string>()
  const held = await bounds()
  const wanted = new Map(
    held.flatMap(({ partition, low, high }) => {
      const offset = offsets[partition] ?? -1
      return offset >= low && offset < high ? [[partition, offset]] : []
    }),
  )
  if (wanted.size === 0) return ids
  const after = Object.fromEntries(
    held.map(({ partition, high }) => [partition, (wanted.get(partition) ?? high) - 1]),
  )
  const signal = AbortSignal.timeout(WITHIN_MS)
  for await (const item of tail({ after, signal })) {
    const offset = wanted.get(item.partition)
    wanted.delete(item.partition)
    if (item.kind === 'batch') {
      const entry = item.entries.find(({ origin }) => origin.offset === offset)
      if (entry !== undefined && 'event' in entry) ids.set(item.partition, eventIdOf(entry.event))
    }
    if (wanted.size === 0) return ids
  }
  throw new DependencyError('Kafka did not return the events that were applied last', {
    retriable: true,
  })
}
