import type { EventLog, LogBatch, LogEntry, UnreadableEntry } from '../event-log/event-log.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { ReadModels } from '../store/store.ts'
import { deviceStatus } from './device-status.ts'

/** The consumer group whose committed offsets say how far a generation of the read models is. */
export function projectorGroup(generation: number): string {
  return generation === 1 ? 'projector' : `projector-g${generation}`
}

/**
 * Carries the log into one generation of the read models until `signal` is aborted. What cannot be
 * read goes to the dead letters and never blocks what follows; a store that is away is waited for,
 * nothing skipped.
 */
export async function runProjector({
  eventLog,
  store,
  generation = 1,
  metrics,
  logger,
  signal,
}: {
  eventLog: Pick<EventLog, 'subscribe' | 'deadLetter'>
  store: Pick<ReadModels, 'checkpoint' | 'project'>
  generation?: number
  metrics: Metrics
  logger: Logger
  signal: AbortSignal
}): Promise<void> {
  const resumeAfter = await store.checkpoint()
  await eventLog.subscribe({
    group: projectorGroup(generation),
    ...(resumeAfter !== undefined && { resumeAfter }),
    signal,
    onBatch: (batch) => projectBatch(batch, { eventLog, store, metrics, logger }),
  })
}

/** One batch: dead letters first, so that the checkpoint never passes one that is not yet kept. */
async function projectBatch(
  { partition, lastOffset, entries }: LogBatch,
  {
    eventLog,
    store,
    metrics,
    logger,
  }: {
    eventLog: Pick<EventLog, 'deadLetter'>
    store: Pick<ReadModels, 'project'>
    metrics: Metrics
    logger: Logger
  },
): Promise<void> {
  const unreadable = entries.filter(isUnreadable)
  if (unreadable.length > 0) await eventLog.deadLetter(unreadable)
  const { stored, repeated } = await store.project({
    partition,
    lastOffset,
    entries: entries.filter(isPosition),
    fold: deviceStatus,
  })
  for (const { origin, reason } of unreadable) {
    logger.error({ ...origin, reason }, 'log entry dead-lettered')
  }
  metrics.projected.inc({ outcome: 'stored' }, stored)
  metrics.projected.inc({ outcome: 'repeated' }, repeated)
  metrics.projected.inc({ outcome: 'dead_lettered' }, unreadable.length)
}

function isUnreadable(entry: LogEntry): entry is UnreadableEntry {
  return entry.kind === 'unreadable'
}

function isPosition(entry: LogEntry): entry is Extract<LogEntry, { kind: 'position' }> {
  return entry.kind === 'position'
}
