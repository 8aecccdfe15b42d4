import type { Program } from '../process/program.ts'
import { serveRoutes, serviceRoutes } from './service-routes.ts'

/**
 * Serves health, readiness (everything it depends on responds) and metrics of a process that serves
 * nothing else.
 */
export async function serveHealth(
  {
    name,
    port,
    variable,
    dependencies,
  }: {
    name: 'projector' | 'deliverer'
    port: number
    variable: string
    dependencies: readonly { ready(): Promise<void> }[]
  },
  program: Program,
): Promise<void> {
  const { config, metrics, lifecycle } = program
  await serveRoutes(
    (router) =>
      serviceRoutes(router, {
        name: `gps-${name}`,
        metrics,
        metricsElsewhere: config.metricsPort !== undefined,
        ready: async () => {
          await Promise.all(dependencies.map((one) => one.ready()))
        },
        stopping: lifecycle.stopping,
      }),
    { port, variable, what: `${name} listening` },
    program,
  )
}
