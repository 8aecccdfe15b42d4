import type { EventLog } from '../event-log/event-log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { InstanceReport } from '../schemas/instance-report.ts'
import type { Generations } from '../store/read-models.ts'
import { projectorGroup } from './projector.ts'

type MeasuredLag = Required<Pick<InstanceReport, 'lag' | 'deadLetters'>>

type Dependencies = {
  readonly eventLog: Pick<EventLog, 'lag' | 'deadLetters'>
  readonly store: Pick<Generations, 'currentGeneration'>
  readonly metrics: Metrics
}

/** Measures the lag, and tells what it was found to be last; nothing where that failed. */
export function lagWatch(dependencies: Dependencies) {
  let last: Partial<MeasuredLag> = {}
  return {
    async measure(): Promise<void> {
      try {
        last = await measureLag(dependencies)
      } catch (error) {
        // What was true a while ago must not be told as if it were so now.
        last = {}
        throw error
      }
    },
    last: () => last,
  }
}

/**
 * Measures how far the read models in use are behind the log, and how many dead letters are kept,
 * and puts it into the metrics.
 */
export async function measureLag({ eventLog, store, metrics }: Dependencies): Promise<MeasuredLag> {
  const group = projectorGroup(await store.currentGeneration())
  const lag = await eventLog.lag(group)
  const deadLetters = await eventLog.deadLetters()
  metrics.projectorLagEvents.set(lag.events)
  metrics.projectorLagSeconds.set(lag.seconds)
  metrics.deadLetters.set(deadLetters)
  return { lag, deadLetters }
}
