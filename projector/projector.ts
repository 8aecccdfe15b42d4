import type { EventLog, LogBatch, LogEntry, UnreadableEntry } from '../event-log/event-log.ts'
import { includes } from '../event-log/offsets.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { Offsets } from '../schemas/read-models.ts'
import type { Devices, Generation, ProjectionEntry } from '../store/read-models.ts'
import { countChanges } from './changes.ts'
import type { KeepDeadLetters } from './dead-letters.ts'
import { deviceStatus } from './device-status.ts'
import { OtherLogError, sameLogCheck, type KnownLog } from './same-log.ts'

/** The consumer group whose committed offsets say how far a generation of the read models is. */
export function projectorGroup(generation: number): string {
  return generation === 1 ? 'projector' : `projector-g${generation}`
}

export type Projection = {
  readonly store: Pick<Generation, 'checkpoint' | 'project' | 'lastApplied'>
  /** What operators said of devices: it goes when they are erased. */
  readonly settings: Pick<Devices, 'forgetDeviceSettings'>
  readonly keepDeadLetters: KeepDeadLetters
  /** Up to here another generation has forgotten the settings of erased devices already. */
  readonly settingsForgottenUpTo?: Offsets
  readonly metrics: Metrics
}

/**
 * Carries the log into one generation of the read models until `signal` is aborted. What cannot be
 * read goes to the dead letters, an event of an unknown type is skipped, and neither blocks what
 * follows. A store that is away is waited for.
 * @throws {OtherLogError} when the log is not the one that the read models were made from.
 */
export async function runProjector({
  eventLog,
  generation = 1,
  signal,
  ...projection
}: Projection & {
  eventLog: Pick<EventLog, 'subscribe'> & KnownLog
  generation?: number
  signal: AbortSignal
}): Promise<void> {
  const { store } = projection
  const resumeAfter = await store.checkpoint()
  const refused = new AbortController()
  let refusal: OtherLogError | undefined
  const refuse = (error: unknown) => {
    if (error instanceof OtherLogError) refusal ??= error
    if (refusal !== undefined) refused.abort()
  }
  const sameLog = sameLogCheck(eventLog, store)
  sameLog.begun.catch(refuse)
  try {
    await eventLog.subscribe({
      group: projectorGroup(generation),
      ...(resumeAfter !== undefined && { resumeAfter }),
      signal: AbortSignal.any([signal, refused.signal]),
      async onBatch(batch) {
        await sameLog.before(batch).catch((error: unknown) => {
          refuse(error)
          throw error
        })
        await projectBatch(batch, projection)
        sameLog.after(batch)
      },
    })
  } catch (error) {
    // What the log says of itself is less than what the comparison does.
    await sameLog.begun.catch(refuse)
    throw refusal ?? error
  }
  if (refusal !== undefined) throw refusal
}

/** One batch: dead letters first, so that the checkpoint never passes one that is not yet kept. */
async function projectBatch(
  { partition, lastOffset, entries }: LogBatch,
  { store, settings, keepDeadLetters, settingsForgottenUpTo = {}, metrics }: Projection,
): Promise<void> {
  await keepDeadLetters(entries.filter(isUnreadable))
  const readable = entries.filter(isReadable)
  const erasures = readable.filter(isErasure)
  // Before the checkpoint passes them, or a projector that ends in between would leave it undone.
  for (const { origin, event } of erasures) {
    if (includes(settingsForgottenUpTo, origin)) continue
    const { accountId, deviceId, erasedAt } = event
    await settings.forgetDeviceSettings({ accountId, deviceId, changedUpTo: erasedAt })
  }
  const changes = await store.project({
    partition,
    lastOffset,
    entries: readable,
    fold: deviceStatus,
  })
  for (const [outcome, count] of Object.entries(countChanges(changes))) {
    metrics.projected.inc({ outcome }, count)
  }
  const unknown = entries.filter(({ kind }) => kind === 'unknown')
  metrics.projected.inc({ outcome: 'skipped' }, unknown.length)
}

function isUnreadable(entry: LogEntry): entry is UnreadableEntry {
  return entry.kind === 'unreadable'
}

function isReadable(entry: LogEntry): entry is ProjectionEntry {
  return entry.kind === 'position' || entry.kind === 'erasure'
}

function isErasure(entry: ProjectionEntry) {
  return entry.kind === 'erasure'
}
