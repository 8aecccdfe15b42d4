import type { UnreadableEntry } from '../event-log/event-log.ts'
import { higherOffsets, includes } from '../event-log/offsets.ts'
import type { Topic } from '../event-log/topic.ts'
import type { Logger } from '../runtime/process/logger.ts'
import type { Metrics } from '../runtime/process/metrics.ts'
import type { Offsets } from '../schemas/devices/read-models.ts'

/** Stores unreadable entries. Resolves once they are durable. */
export type KeepDeadLetters = (entries: readonly UnreadableEntry[]) => Promise<void>

/**
 * Stores each unreadable entry once, however often its batch is retried while the store is
 * unavailable, and none at or before `keptUpTo`. Each partition is read in order, so remembering
 * the last stored offset is enough. After a restart an entry may be stored again, which is
 * harmless: avoiding it would mean reading all dead letters at every start.
 */
export function keepDeadLetters({
  deadLetters,
  metrics,
  logger,
  keptUpTo = {},
}: {
  deadLetters: Pick<Topic<UnreadableEntry>, 'append'>
  metrics: Metrics
  logger: Logger
  keptUpTo?: Offsets
}): KeepDeadLetters {
  let kept = keptUpTo
  return async (entries) => {
    const fresh = entries.filter(({ origin }) => !includes(kept, origin))
    if (fresh.length === 0) return
    await deadLetters.append(fresh)
    for (const { origin, reason } of fresh) {
      kept = higherOffsets(kept, { [origin.partition]: origin.offset })
      logger.error({ ...origin, reason }, 'log entry dead-lettered')
    }
    metrics.projected.inc({ outcome: 'dead_lettered' }, fresh.length)
  }
}
