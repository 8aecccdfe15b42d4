import type { EventLog } from '../event-log/event-log.ts'
import type { Clock } from '../runtime/clock.ts'
import { DependencyError } from '../runtime/errors.ts'
import type { Metrics } from '../runtime/process/metrics.ts'
import type { InstanceReport } from '../schemas/instance-report.ts'
import type { Offsets } from '../schemas/devices/read-models.ts'
import type { FactStore } from '../store/facts.ts'
import type { Generations } from '../store/generations.ts'
import type { ReadModels } from '../store/read-models.ts'
import { projectorGroup } from './projector.ts'

/** The progress of the current read models and of the facts. */
type InUse = {
  readonly group: string
  readonly applied: Offsets | undefined
  readonly judged: Offsets | undefined
}

type MeasuredLag = Required<Pick<InstanceReport, 'lag' | 'deadLetters'>> &
  Pick<InstanceReport, 'factsLagSeconds'>

/**
 * Measures the lag of the current read models and of the facts, and counts the dead letters, for
 * the metrics. While the store is unavailable it measures the lag behind the last known progress
 * from the log, so that growing lag is visible.
 */
export function lagWatch({
  eventLog,
  store,
  metrics,
}: {
  readonly eventLog: Pick<EventLog, 'lag'> & {
    readonly deadLetters: Pick<EventLog['deadLetters'], 'count'>
  }
  readonly store: Pick<Generations, 'currentGeneration'> &
    Pick<ReadModels, 'checkpoint'> &
    Pick<FactStore, 'factsProgress'>
  readonly metrics: Metrics
}) {
  let inUse: InUse | undefined
  let last: Partial<MeasuredLag> = {}

  async function progressInUse(): Promise<InUse> {
    try {
      const group = projectorGroup(await store.currentGeneration())
      const applied = await store.checkpoint()
      inUse = { group, applied, judged: await store.factsProgress() }
    } catch (error) {
      if (inUse === undefined) throw error
    }
    return inUse
  }

  return {
    async measure(): Promise<void> {
      try {
        const { group, applied, judged } = await progressInUse()
        const lag = await eventLog.lag(group, applied)
        const deadLetters = await eventLog.deadLetters.count()
        const facts = judged && (await eventLog.lag(group, judged))
        last = { lag, deadLetters, ...(facts !== undefined && { factsLagSeconds: facts.seconds }) }
        if (facts !== undefined) metrics.factsLag.set(facts.seconds)
        metrics.projectorLagEvents.set(lag.events)
        metrics.projectorLagSeconds.set(lag.seconds)
        metrics.deadLetters.set(deadLetters)
      } catch (error) {
        // Do not export outdated values.
        last = {}
        metrics.projectorLagEvents.remove()
        metrics.projectorLagSeconds.remove()
        metrics.deadLetters.remove()
        metrics.factsLag.remove()
        throw error
      }
    },

    /** The last measurement; empty if it failed. */
    last: () => last,
  }
}

const LONGEST_STAND_MS = 30_000

type Standing = { readonly upTo: number; readonly since: number }

/**
 * Detects that projecting or judging is stuck although the log has grown: call `look` every few
 * seconds.
 */
export function watchProgress({
  eventLog,
  store,
  clock,
}: {
  readonly eventLog: Pick<EventLog, 'extent'>
  readonly store: Pick<ReadModels, 'checkpoint'> & Pick<FactStore, 'factsProgress'>
  readonly clock: Clock
}) {
  let standing: ReadonlyMap<string, Standing> = new Map()

  return {
    async look(): Promise<void> {
      const [projecting, judging] = [await store.checkpoint(), await store.factsProgress()]
      const next = new Map<string, Standing>()
      const steps: readonly (readonly [string, Offsets | undefined])[] = [
        ['projecting', projecting],
        ['judging', judging],
      ]
      for (const { partition, next: end } of await eventLog.extent()) {
        for (const [step, progress] of steps) {
          const upTo = progress?.[partition] ?? -1
          if (progress === undefined || upTo >= end - 1) continue
          const name = `${step} partition ${partition}`
          const before = standing.get(name)
          next.set(name, before?.upTo === upTo ? before : { upTo, since: clock.now() })
        }
      }
      standing = next
    },

    /** @throws {DependencyError} that names what is stuck. */
    async ready(): Promise<void> {
      for (const [name, { since }] of standing) {
        const ms = clock.now() - since
        if (ms < LONGEST_STAND_MS) continue
        const seconds = Math.floor(ms / 1_000)
        throw new DependencyError(`${name} has stood still for ${seconds} s`, {
          retriable: true,
        })
      }
    },
  }
}
