import type { EventLog } from '../event-log/event-log.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import type { Program } from '../runtime/program.ts'
import type { Generations, ReadModels } from '../store/store.ts'
import { measureLag } from './measure-lag.ts'
import { projectInUse } from './project-in-use.ts'
import { applyRetention } from './retention.ts'

const HOUR_MS = 60 * 60 * 1_000
const LAG_EVERY_MS = 5_000

/**
 * Starts the projector on an open log and store. When the lifecycle closes it, it finishes the
 * batch in hand; what it has not come to is projected at the next start.
 */
export function startProjector(
  { eventLog, store }: { eventLog: EventLog; store: ReadModels & Generations },
  { config, logger, metrics, lifecycle }: Program,
): void {
  const stop = new AbortController()
  const projector = projectInUse({ eventLog, store, metrics, logger, signal: stop.signal })
  lifecycle.run('projector', projector)
  lifecycle.onClose('projector loop', async () => stop.abort())
  lifecycle.every('measuring the lag', LAG_EVERY_MS, () => measureLag({ eventLog, store, metrics }))
  const { retentionDays } = config
  if (retentionDays !== undefined) {
    lifecycle.every('retention', HOUR_MS, () =>
      applyRetention({ eventLog, store, clock, retentionDays }),
    )
  }
}
