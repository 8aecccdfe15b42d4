import type { EventLog, LogBatch, LogEntry, UnreadableEntry } from '../event-log/event-log.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { Devices, ProjectionEntry, ReadModels } from '../store/read-models.ts'
import { deviceStatus } from './device-status.ts'

/** The consumer group whose committed offsets say how far a generation of the read models is. */
export function projectorGroup(generation: number): string {
  return generation === 1 ? 'projector' : `projector-g${generation}`
}

export type ErasureEntry = Extract<ProjectionEntry, { kind: 'erasure' }>

/** Removes what operators had said of a device when it was erased; what they said since stays. */
export async function forgetSettings(
  { event: { accountId, deviceId, erasedAt } }: ErasureEntry,
  { store }: { store: Pick<Devices, 'forgetDeviceSettings'> },
): Promise<void> {
  await store.forgetDeviceSettings({ accountId, deviceId, changedUpTo: erasedAt })
}

/**
 * Carries the log into one generation of the read models until `signal` is aborted. What cannot be
 * read goes to the dead letters and never blocks what follows; a store that is away is waited for,
 * nothing skipped. `forget` is told of each erasure before it is applied, where this generation is
 * the one whose erasures count for what operators said.
 */
export async function runProjector({
  eventLog,
  store,
  generation = 1,
  forget,
  metrics,
  logger,
  signal,
}: {
  eventLog: Pick<EventLog, 'subscribe' | 'deadLetter'>
  store: Pick<ReadModels, 'checkpoint' | 'project'>
  generation?: number
  forget?: ((erasure: ErasureEntry) => Promise<void>) | undefined
  metrics: Metrics
  logger: Logger
  signal: AbortSignal
}): Promise<void> {
  const resumeAfter = await store.checkpoint()
  await eventLog.subscribe({
    group: projectorGroup(generation),
    ...(resumeAfter !== undefined && { resumeAfter }),
    signal,
    onBatch: (batch) => projectBatch(batch, { eventLog, store, forget, metrics, logger }),
  })
}

/** One batch: dead letters first, so that the checkpoint never passes one that is not yet kept. */
async function projectBatch(
  { partition, lastOffset, entries }: LogBatch,
  {
    eventLog,
    store,
    forget,
    metrics,
    logger,
  }: {
    eventLog: Pick<EventLog, 'deadLetter'>
    store: Pick<ReadModels, 'project'>
    forget: ((erasure: ErasureEntry) => Promise<void>) | undefined
    metrics: Metrics
    logger: Logger
  },
): Promise<void> {
  const unreadable = entries.filter(isUnreadable)
  if (unreadable.length > 0) await eventLog.deadLetter(unreadable)
  const readable = entries.filter(isReadable)
  const erasures = readable.filter(isErasure)
  // Before the checkpoint passes them, or a projector that ends in between would leave it undone.
  for (const erasure of erasures) await forget?.(erasure)
  const { stored, repeated } = await store.project({
    partition,
    lastOffset,
    entries: readable,
    fold: deviceStatus,
  })
  for (const { origin, reason } of unreadable) {
    logger.error({ ...origin, reason }, 'log entry dead-lettered')
  }
  metrics.projected.inc({ outcome: 'stored' }, stored)
  metrics.projected.inc({ outcome: 'repeated' }, repeated)
  metrics.projected.inc({ outcome: 'erased' }, erasures.length)
  metrics.projected.inc({ outcome: 'dead_lettered' }, unreadable.length)
}

function isUnreadable(entry: LogEntry): entry is UnreadableEntry {
  return entry.kind === 'unreadable'
}

function isReadable(entry: LogEntry): entry is ProjectionEntry {
  return entry.kind !== 'unreadable'
}

function isErasure(entry: ProjectionEntry): entry is ErasureEntry {
  return entry.kind === 'erasure'
}
