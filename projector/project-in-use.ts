import { setTimeout as pause } from 'node:timers/promises'
import type { EventLog } from '../event-log/event-log.ts'
import { backOff } from '../runtime/process/repeat.ts'
import { DependencyError } from '../runtime/errors.ts'
import type { Logger } from '../runtime/process/logger.ts'
import type { Metrics } from '../runtime/process/metrics.ts'
import type { Generation, Generations } from '../store/generations.ts'
import { WentBackError, type Erasures, type ReadModels } from '../store/read-models.ts'
import { keepDeadLetters } from './dead-letters.ts'
import type { Judging } from './facts/judge-apart.ts'
import { judgeBatches } from './facts/judge-batch.ts'
import { judgeBehind } from './facts/judge-behind.ts'
import { runProjector } from './projector.ts'
import type { KnownLog } from './same-log.ts'

const LOOK_EVERY_MS = 500

/**
 * Projects the log into the current generation of the read models until `signal` is aborted. After a
 * switch it continues with the new generation, from that one's own position, so no event is missed.
 */
export async function projectInUse({
  eventLog,
  store,
  judging,
  metrics,
  logger,
  signal,
}: {
  judging?: JudgingInUse
  eventLog: Pick<EventLog, 'subscribe'> &
    KnownLog & { readonly deadLetters: Pick<EventLog['deadLetters'], 'append'> }
  store: Generations & Pick<Erasures, 'forgetErased'> & Pick<ReadModels, 'retentionDays'>
  metrics: Metrics
  logger: Logger
  signal: AbortSignal
}): Promise<void> {
  const keep = keepDeadLetters({ deadLetters: eventLog.deadLetters, metrics, logger })
  const pauses = backOff({ firstMs: 200, longestMs: 2_000 })
  while (!signal.aborted) {
    const opened = await openInUse(store, judging, logger)
    if (opened === undefined) {
      await pauses.pause(signal)
      continue
    }
    pauses.reset()
    const { generation, readModels } = opened
    logger.info({ generation }, 'projecting into the read models in use')
    const left = new AbortController()
    const until = AbortSignal.any([signal, left.signal])
    const facts =
      judging &&
      judgeBehind(judgeBatches(readModels, judging), {
        publishes: judging.topic !== undefined,
        onWentBack: (error) => left.abort(error),
        logger,
        signal: until,
      })
    try {
      const watching = Promise.all([
        waitUntilReplaced(store, generation, until).then(() => left.abort()),
        judging && retryUntilBegun(() => judging.begin(readModels), until),
      ])
      await runProjector({
        eventLog,
        store: readModels,
        settings: store,
        keepDeadLetters: keep,
        ...(facts !== undefined && { facts }),
        generation,
        tolerates,
        metrics,
        signal: until,
      }).finally(() => left.abort())
      await watching
      if (left.signal.reason instanceof WentBackError) throw left.signal.reason
    } catch (error) {
      if (!(error instanceof WentBackError)) throw error
      logger.warn({ err: error }, 'projector restarted from the checkpoint of the read models')
    } finally {
      await facts?.ended()
      await readModels.close()
    }
  }

  /**
   * Retention also removes events that are not projected yet, if no projector has run for that
   * long.
   */
  async function tolerates(gap: string): Promise<boolean> {
    if ((await store.retentionDays()) === undefined) return false
    logger.error({ gap }, 'retention deleted events that were never projected')
    return true
  }
}

/** How facts are decided from projected entries. */
export type JudgingInUse = Judging & {
  /** Called before anything is judged. */
  prepare(): Promise<void>
  /** Whether judging has started; called again until it has. */
  begin(readModels: Generation): Promise<boolean>
}

/** Undefined if the store is unavailable. */
async function openInUse(
  store: Generations,
  judging: Pick<JudgingInUse, 'prepare'> | undefined,
  logger: Logger,
): Promise<{ generation: number; readModels: Generation } | undefined> {
  try {
    await judging?.prepare()
    const generation = await store.currentGeneration()
    return { generation, readModels: await store.openGeneration(generation) }
  } catch (error) {
    if (!(error instanceof DependencyError) || !error.retriable) throw error
    logger.warn({ err: error }, 'current read models unavailable; retrying')
    return undefined
  }
}

/** Resolves when judging has started, or `signal` is aborted. */
async function retryUntilBegun(begin: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  // Waits while the log or the store is unavailable.
  while (!signal.aborted && !(await begin().catch(() => false))) {
    await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}

/** Resolves when another generation is in use, or `signal` is aborted. */
async function waitUntilReplaced(
  store: Generations,
  generation: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
    // The projector also waits while the store is unavailable.
    const inUse = await store.currentGeneration().catch(() => generation)
    if (inUse !== generation) return
  }
}
