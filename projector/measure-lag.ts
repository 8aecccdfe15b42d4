import type { EventLog } from '../event-log/event-log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { Generations } from '../store/store.ts'
import { projectorGroup } from './projector.ts'

/** Puts how far the read models in use are behind the log, and the dead letters, into the metrics. */
export async function measureLag({
  eventLog,
  store,
  metrics,
}: {
  eventLog: Pick<EventLog, 'lag' | 'deadLetters'>
  store: Pick<Generations, 'currentGeneration'>
  metrics: Metrics
}): Promise<void> {
  const group = projectorGroup(await store.currentGeneration())
  const { events, seconds } = await eventLog.lag(group)
  metrics.projectorLagEvents.set(events)
  metrics.projectorLagSeconds.set(seconds)
  metrics.deadLetters.set(await eventLog.deadLetters())
}
