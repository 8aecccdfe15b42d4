import type { EventLog } from '../event-log/event-log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { PROJECTOR_GROUP } from './projector.ts'

/** Puts how far the read models are behind the log, and the dead letters, into the metrics. */
export async function measureLag({
  eventLog,
  metrics,
}: {
  eventLog: Pick<EventLog, 'lag' | 'deadLetters'>
  metrics: Metrics
}): Promise<void> {
  const { events, seconds } = await eventLog.lag(PROJECTOR_GROUP)
  metrics.projectorLagEvents.set(events)
  metrics.projectorLagSeconds.set(seconds)
  metrics.deadLetters.set(await eventLog.deadLetters())
}
