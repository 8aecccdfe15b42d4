import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { EventLog } from '../../event-log/event-log.ts'
import { openKafkaEventLog } from '../../event-log/kafka/kafka-event-log.ts'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import { runCommand } from '../command.ts'
import type { Config } from '../../runtime/config/config.ts'
import { createLogger, type Logger } from '../../runtime/logger.ts'
import { createMetrics } from '../../runtime/metrics.ts'
import { privateDirectory } from '../../runtime/private-directory.ts'
import { openMongoStore } from '../../store/mongo/mongo-store.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { HELP, parseOptions, type Options } from './options.ts'
import { rebuildReadModels } from './rebuild.ts'
import { report } from './report.ts'
import { whenReady } from '../when-ready.ts'

/** Every process follows a switch within two seconds, and may still be finishing a request. */
const FOLLOWED_AFTER_MS = 4_000
const READY_WITHIN_MS = 30_000

// Everything is closed, but Kafka's client may leave timers behind.
process.exit(
  await runCommand(process.argv.slice(2), {
    help: HELP,
    parse: parseOptions,
    run: rebuild,
    afterFailure: 'What is in use stays in use; start this again.\n',
  }),
)

async function rebuild({ force }: Options, config: Config): Promise<number> {
  const logger = createLogger({ level: config.logLevel, name: 'gps-rebuild' })
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())
  const opened = await open(config, logger)
  const signal = AbortSignal.any([stop.signal, opened.failed])
  try {
    await whenReady([opened.eventLog, opened.store], { withinMs: READY_WITHIN_MS, signal })
    const outcome = await rebuildReadModels({
      eventLog: opened.eventLog,
      store: opened.store,
      clock,
      metrics: createMetrics(),
      logger,
      screen: process.stderr,
      force,
      followedAfterMs: FOLLOWED_AFTER_MS,
      signal,
    })
    process.stdout.write(report(outcome))
    return outcome.kind === 'switched' ? 0 : 1
  } finally {
    await opened.store.close()
    await opened.eventLog.close()
  }
}

type Opened = { readonly eventLog: EventLog; readonly store: Store; readonly failed: AbortSignal }

async function open(config: Config, logger: Logger): Promise<Opened> {
  const failing = new AbortController()
  const failed = failing.signal
  const { distributed } = config
  if (distributed === undefined) {
    const directory = resolve(config.dataDir)
    const file = join(directory, 'log.sqlite')
    if (!existsSync(file)) {
      throw new Error(`there is no event log in ${directory}: set DATA_DIR to where it is`)
    }
    privateDirectory(directory, { logger })
    const eventLog = openSqliteEventLog({ file, clock, logger })
    return { eventLog, store: openSqliteStore({ directory }), failed }
  }
  const eventLog = openKafkaEventLog({
    ...distributed.kafka,
    clientId: 'gps-rebuild',
    clock,
    logger,
    onFatal: (error) => {
      logger.fatal({ err: error }, 'the event log cannot go on')
      failing.abort()
    },
  })
  const store = await openMongoStore({ url: distributed.mongodbUrl, clock, logger })
  return { eventLog, store, failed }
}
