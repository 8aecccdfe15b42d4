import { setTimeout as pause } from 'node:timers/promises'
import type { EventLog, LogBatch, LogEntry, UnreadableEntry } from '../event-log/event-log.ts'
import { includes, lowerOffsets, higherOffsets } from '../event-log/offsets.ts'
import { DependencyError } from '../runtime/errors.ts'
import type { Metrics } from '../runtime/process/metrics.ts'
import { sum } from '../runtime/sum.ts'
import type { Offsets } from '../schemas/devices/read-models.ts'
import type { Generation } from '../store/generations.ts'
import {
  WentBackError,
  type ErasureEntry,
  type Erasures,
  type ProjectionEntry,
  type Change,
} from '../store/read-models.ts'
import type { KeepDeadLetters } from './dead-letters.ts'
import { deviceStatus, FOLD_VERSION } from './device-status.ts'
import type { JudgeBatch } from './facts/judge-batch.ts'
import {
  OtherFactsError,
  sameLogCheck,
  UnfitLogError,
  findOtherLogReason,
  type KnownLog,
} from './same-log.ts'

/** The consumer group that projects a generation of the read models. */
export function projectorGroup(generation: number): string {
  return generation === 1 ? 'projector' : `projector-g${generation}`
}

export type Projection = {
  readonly store: Pick<Generation, 'checkpoint' | 'project' | 'lastApplied'>
  /** Operators' settings of devices, removed when a device is erased. */
  readonly settings: Pick<Erasures, 'forgetErased'>
  readonly keepDeadLetters: KeepDeadLetters
  /** Decides facts from each batch; absent in a rebuild, which decides nothing again. */
  readonly facts?: JudgeBatch
  /** Another generation has already removed the settings of devices erased up to this offset. */
  readonly settingsForgottenUpTo?: Offsets
  readonly metrics: Metrics
}

/**
 * Projects the log into one generation of the read models until `signal` is aborted. Unreadable
 * entries become dead letters, events of an unknown type are skipped; neither blocks later entries.
 * While the store is unavailable it retries.
 * @throws {UnfitLogError} if the read models were built from another log, or lack events that the
 * log has lost.
 * @throws {WentBackError} if these read models have been replaced by older ones.
 * @throws {MissingVariableError} unless it waits.
 */
export async function runProjector({
  eventLog,
  generation = 1,
  waits = true,
  tolerates = () => Promise.resolve(false),
  signal,
  ...projection
}: Projection & {
  eventLog: Pick<EventLog, 'subscribe'> & KnownLog
  generation?: number
  /** Whether it waits or ends at entries that only this process cannot read. */
  waits?: boolean
  /** Decides whether to continue although the log has lost events that the read models lack. */
  tolerates?: (gap: string) => Promise<boolean>
  signal: AbortSignal
}): Promise<void> {
  const { store } = projection
  const refused = new AbortController()
  let refusal: Error | undefined
  const refuse = (error: unknown) => {
    if (error instanceof UnfitLogError || error instanceof WentBackError) refusal ??= error
    if (error instanceof MissingVariableError && !waits) refusal ??= error
    if (refusal !== undefined) refused.abort()
  }
  const sameLog = sameLogCheck(eventLog, store, { tolerates })
  sameLog.begun.catch(refuse)
  const until = AbortSignal.any([signal, refused.signal])
  const ended = new AbortController()
  const progress = readProgress(store)
  const watching = progress.watch(AbortSignal.any([until, ended.signal])).catch(refuse)
  try {
    await eventLog.subscribe({
      group: projectorGroup(generation),
      async resumeAfter() {
        try {
          return await resumeAfter({ eventLog, progress, facts: projection.facts })
        } catch (error) {
          refuse(error)
          throw error
        }
      },
      signal: until,
      async onBatch(batch) {
        try {
          await sameLog.before(batch)
          await projectBatch(batch, projection)
        } catch (error) {
          refuse(error)
          throw error
        }
        progress.reached(batch)
        sameLog.after(batch)
      },
    })
  } catch (error) {
    // The comparison explains more than the log's own error.
    await sameLog.begun.catch(refuse)
    throw refusal ?? error
  } finally {
    ended.abort()
    await watching
  }
  if (refusal !== undefined) throw refusal
}

/**
 * Reading continues from the lower of the two progresses; each step skips the entries that it has
 * processed.
 */
async function resumeAfter({
  eventLog,
  progress,
  facts,
}: {
  eventLog: KnownLog
  progress: ProjectorProgress
  facts: JudgeBatch | undefined
}): Promise<Offsets> {
  const projected = await progress.resumeAfter()
  if (facts === undefined) return projected
  const reason = await findOtherLogReason(eventLog, await facts.lastJudged())
  if (reason !== undefined) throw new OtherFactsError(reason)
  const judged = await facts.progress()
  return judged === undefined ? projected : lowerOffsets(projected, judged)
}

/** This process lacks a variable that the log's entries need. */
class MissingVariableError extends DependencyError {}

/**
 * Rejects a batch with entries that only this process cannot read: the process waits, not ready,
 * until it is started with the missing variable. Dead letters come first, so that the checkpoint
 * never passes one that is not durable.
 */
async function projectBatch(
  batch: LogBatch,
  { store, settings, keepDeadLetters, facts, settingsForgottenUpTo = {}, metrics }: Projection,
): Promise<void> {
  const { partition, after, lastOffset, entries } = batch
  const unreadable = entries.filter(isUnreadable)
  for (const { missing, reason } of unreadable) {
    if (missing !== undefined) throw new MissingVariableError(reason, { retriable: true })
  }
  await keepDeadLetters(unreadable)
  const readable = entries.filter(isReadable)
  const erasures = readable.filter(isErasure)
  // Done before the checkpoint moves past the erasures, in case the projector is killed in between.
  for (const { origin, event } of erasures) {
    if (includes(settingsForgottenUpTo, origin)) continue
    await settings.forgetErased(event)
  }
  await facts?.erase(erasures)
  const read = { partition, ...(after !== undefined && { after }), lastOffset, entries: readable }
  const changes = await store.project({ ...read, fold: deviceStatus, foldVersion: FOLD_VERSION })
  await facts?.judge(read, changes)
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
  return entry.kind === 'position' || entry.kind === 'seen' || entry.kind === 'erasure'
}

function isErasure(entry: ProjectionEntry): entry is ErasureEntry {
  return entry.kind === 'erasure'
}

const LOOK_EVERY_MS = 2_000

/**
 * The offsets that a projector has reached in its read models, and whether the read models still
 * have them.
 */
type ProjectorProgress = {
  /** The checkpoint, from which the log continues. */
  resumeAfter(): Promise<Offsets>
  reached(batch: { readonly partition: number; readonly lastOffset: number }): void
  /**
   * Checks from time to time, because nothing else notices while there is nothing to project.
   * Resolves when `signal` is aborted.
   * @throws {WentBackError} when the checkpoint is before an offset that was reached.
   */
  watch(signal: AbortSignal): Promise<void>
}

export function readProgress(
  readModels: Pick<Generation, 'checkpoint'>,
  { lookEveryMs = LOOK_EVERY_MS }: { lookEveryMs?: number } = {},
): ProjectorProgress {
  let places: Offsets = {}

  return {
    async resumeAfter() {
      places = await readModels.checkpoint()
      return places
    },

    reached({ partition, lastOffset }) {
      places = higherOffsets(places, { [partition]: lastOffset })
    },

    async watch(signal) {
      while (!signal.aborted) {
        await pause(lookEveryMs, undefined, { signal }).catch(() => undefined)
        if (signal.aborted) return
        const known = Object.entries(places)
        // While the store is unavailable it cannot be compared.
        const found = await readModels.checkpoint().catch(() => undefined)
        if (found === undefined) continue
        for (const [partition, from] of known) {
          const to = found[Number(partition)] ?? -1
          if (to < from) throw new WentBackError(Number(partition), { from, to })
        }
      }
    },
  }
}

/** The number of log entries in a batch's changes, by outcome. */
export function countChanges(changes: readonly Change[]): {
  readonly stored: number
  readonly seen: number
  readonly repeated: number
  readonly erased: number
} {
  return {
    stored: sum(changes.map(({ stored }) => stored.length)),
    seen: sum(changes.map(({ seen }) => seen.length)),
    repeated: sum(changes.map(({ repeated }) => repeated.length)),
    erased: sum(changes.map(({ erased }) => erased.length)),
  }
}
