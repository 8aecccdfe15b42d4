import type { EventLog } from '../event-log/event-log.ts'
import type { Program } from '../runtime/program.ts'
import { serveRoutes, serviceRoutes } from '../runtime/service-routes.ts'
import type { Store } from '../store/store.ts'

/** Serves health, readiness (log and store answer) and metrics of a projector process. */
export async function serveHealth(
  port: number,
  { eventLog, store }: { eventLog: Pick<EventLog, 'ready'>; store: Pick<Store, 'ready'> },
  program: Program,
): Promise<void> {
  const { config, metrics, lifecycle } = program
  await serveRoutes(
    (router) =>
      serviceRoutes(router, {
        name: 'gps-projector',
        metrics,
        metricsElsewhere: config.metricsPort !== undefined,
        ready: async () => {
          await Promise.all([eventLog.ready(), store.ready()])
        },
        stopping: lifecycle.stopping,
      }),
    { port, variable: 'PROJECTOR_PORT', what: 'projector listening' },
    program,
  )
}
