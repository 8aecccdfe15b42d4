import { systemClock as clock } from '../../runtime/clock.ts'
import { loadConfig } from '../../runtime/config/config.ts'
import { createLogger } from '../../runtime/process/logger.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import { runCommand } from '../command.ts'
import { holdData, openEventLog, openStore, awaitReady } from '../open.ts'
import { HELP, parseOptions, type Options } from './options.ts'
import { rebuildReadModels } from './rebuild.ts'
import { report } from './report.ts'

/** Every process follows a switch within two seconds, and may still be finishing a request. */
const FOLLOWED_AFTER_MS = 4_000

// Everything is closed, but Kafka's client may leave timers behind.
process.exit(
  await runCommand(process.argv.slice(2), {
    help: HELP,
    parse: parseOptions,
    run: rebuild,
    afterFailure: 'The old read models stay in use; start this again.\n',
  }),
)

async function rebuild({ force }: Options): Promise<number> {
  const stop = new AbortController()
  const { signal } = stop
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort())
  const use = { config: loadConfig(), name: 'gps-rebuild' }
  holdData(use.config)
  const eventLog = openEventLog(use, { onFatal: () => stop.abort() })
  const store = await openStore(use)
  try {
    await awaitReady([eventLog, store], { signal })
    const outcome = await rebuildReadModels({
      eventLog,
      store,
      clock,
      force,
      signal,
      metrics: createMetrics(),
      logger: createLogger({ level: use.config.logLevel, name: use.name }),
      screen: process.stderr,
      followedAfterMs: FOLLOWED_AFTER_MS,
    })
    process.stdout.write(report(outcome))
    return outcome.kind === 'switched' ? 0 : 1
  } finally {
    await store.close()
    await eventLog.close()
  }
}
