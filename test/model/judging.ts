import { deviceStatus, FOLD_VERSION } from '../../projector/device-status.ts'
import { adoptDevices } from '../../projector/facts/adopt.ts'
import { followDefinitions } from '../../projector/facts/definitions.ts'
import { noteFailures, type Judging } from '../../projector/facts/judge-apart.ts'
import {
  judgeBatches,
  type JudgeBatch,
  type ProjectedBatch,
} from '../../projector/facts/judge-batch.ts'
import { sweepDeadlines } from '../../projector/facts/sweep.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Generation } from '../../store/generations.ts'
import {
  WentBackError,
  type Change,
  type ErasureEntry,
  type ProjectionEntry,
} from '../../store/read-models.ts'
import type { Store } from '../../store/store.ts'

export const GRACE_MS = 2_000
const logger = createLogger({ level: 'silent', name: 'test' })

/** The point at which a process dies while projecting. */
export type Crash = 'before projecting' | 'before judging'

/** A projector on a test's store and log; reports can always arrive. */
export function startJudging(
  store: Store,
  log: readonly ProjectionEntry[],
  { clock, topic }: { readonly clock: Clock } & Pick<Judging, 'topic'>,
) {
  const definitions = followDefinitions(store, clock)
  const hearing = {
    look: async () => undefined,
    current: () => ({ since: 0, graceMs: 0 }),
    heardUpTo: () => clock.now(),
    heldSince: () => undefined,
  }
  const metrics = createMetrics()
  const failures = noteFailures({ clock, metrics, logger })
  const judging = { store, definitions, hearing, failures, clock, metrics, topic }
  const extent = async () => [{ partition: 0, first: 0, next: log.length, whole: true }]
  const sweep = sweepDeadlines({ ...judging, eventLog: { extent }, graceMs: GRACE_MS })
  const adopt = adoptDevices(judging)

  /** Projected by this process, but not judged yet. */
  let waiting: [ProjectedBatch, readonly Change[]][] = []

  async function judgeWaiting(facts: JudgeBatch) {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      await facts.judge(...next)
      waiting.shift()
    }
  }

  /**
   * Resumes at the earlier of both progresses, as the projector does. With `behind`, projected
   * entries are judged later.
   */
  async function project({
    crash,
    back = 0,
    behind = false,
  }: { crash?: Crash; back?: number; behind?: boolean } = {}): Promise<void> {
    await definitions.prepare()
    const generation = await store.openGeneration(await store.currentGeneration())
    const facts = judgeBatches(generation, judging)
    const judged = (await facts.progress())?.[0] ?? -1
    const stored = Math.min(judged, (await generation.checkpoint())[0] ?? -1)
    const after = Math.max(-1, (waiting.at(-1)?.[0].lastOffset ?? stored) - back)
    const entries = log.slice(after + 1)
    try {
      if (entries.length > 0) {
        const batch = { partition: 0, after, lastOffset: log.length - 1, entries }
        const isErasure = (entry: ProjectionEntry): entry is ErasureEntry =>
          entry.kind === 'erasure'
        await facts.erase(entries.filter(isErasure))
        if (crash !== 'before projecting') {
          waiting.push([batch, await projectInto(generation, batch)])
        }
      }
      if (crash !== undefined) waiting = []
      if (!behind) await judgeWaiting(facts)
    } catch (error) {
      if (!(error instanceof WentBackError) || waiting.length === 0) throw error
      waiting = []
      await project()
    } finally {
      await generation.close()
    }
  }

  return {
    store,
    project,

    async sweep() {
      await project()
      await sweep()
      await adopt()
      await sweep()
    },

    async rebuild() {
      const begun = await store.beginRebuild()
      if (begun === undefined) throw new Error('another rebuild is running')
      const next = await store.openGeneration(begun.to)
      await projectInto(next, { partition: 0, lastOffset: log.length - 1, entries: log })
      await begun.switchOver()
      await begun.end()
      // Another projector has started.
      waiting = []
      await next.close()
    },
  }
}

function projectInto(
  generation: Generation,
  batch: Omit<Parameters<Generation['project']>[0], 'fold' | 'foldVersion'>,
) {
  return generation.project({ ...batch, fold: deviceStatus, foldVersion: FOLD_VERSION })
}
