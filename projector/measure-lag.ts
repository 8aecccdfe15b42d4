import type { EventLog } from '../event-log/event-log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { InstanceReport } from '../schemas/instance-report.ts'
import type { Generations } from '../store/read-models.ts'
import { projectorGroup } from './projector.ts'

type MeasuredLag = Required<Pick<InstanceReport, 'lag' | 'deadLetters'>>

/**
 * Measures how far the read models in use are behind the log, and how many dead letters are kept,
 * and puts it into the metrics. A store that is away does not hide the lag that grows meanwhile:
 * the log tells it of the generation last known to be in use.
 */
export function lagWatch({
  eventLog,
  store,
  metrics,
}: {
  readonly eventLog: Pick<EventLog, 'lag' | 'deadLetters'>
  readonly store: Pick<Generations, 'currentGeneration'>
  readonly metrics: Metrics
}) {
  let generation: number | undefined
  let last: Partial<MeasuredLag> = {}

  async function generationInUse(): Promise<number> {
    try {
      generation = await store.currentGeneration()
    } catch (error) {
      if (generation === undefined) throw error
    }
    return generation
  }

  return {
    async measure(): Promise<void> {
      try {
        const lag = await eventLog.lag(projectorGroup(await generationInUse()))
        const deadLetters = await eventLog.deadLetters()
        last = { lag, deadLetters }
        metrics.projectorLagEvents.set(lag.events)
        metrics.projectorLagSeconds.set(lag.seconds)
        metrics.deadLetters.set(deadLetters)
      } catch (error) {
        // What was true a while ago must not be told as if it were so now.
        last = {}
        metrics.projectorLagEvents.remove()
        metrics.projectorLagSeconds.remove()
        metrics.deadLetters.remove()
        throw error
      }
    },

    /** What was found last; nothing where that failed. */
    last: () => last,
  }
}
