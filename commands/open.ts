import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { EventLog } from '../event-log/event-log.ts'
import { openKafkaEventLog } from '../event-log/kafka/kafka-event-log.ts'
import { countSqliteEvents } from '../event-log/sqlite/log-database.ts'
import { openSqliteEventLog } from '../event-log/sqlite/sqlite-event-log.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import type { Config } from '../runtime/config/config.ts'
import { createLogger } from '../runtime/process/logger.ts'
import { privateDirectory, holdStopped } from '../runtime/sqlite/data-directory.ts'
import { openMongoStore } from '../store/mongo/mongo-store.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import type { Store } from '../store/store.ts'

/** The file of the embedded service's log. */
export const LOG_FILE = 'log.sqlite'

/** Opens the log and the store in a folder that no service uses. */
export type OpenData = (directory: string) => {
  readonly eventLog: EventLog
  readonly store: Store
  /** Counts the events in the log's file one by one. */
  readonly countEvents: () => number
}

type Use = {
  readonly config: Config
  /** The command's name in logs and in Kafka. */
  readonly name: string
}

/**
 * Checks that the configured directory has the data of an embedded service; for services on Kafka
 * and MongoDB it checks nothing. `task`: names the task of a command that requires the embedded
 * service to be stopped; the service then cannot start until `release`.
 * @throws {Error} if there are no data, or if the service must be stopped but is running.
 */
export function holdData(
  { distributed, dataDir }: Config,
  { task }: { task?: string | undefined } = {},
): { release(): void } {
  const nothing = { release: () => undefined }
  if (distributed !== undefined) return nothing
  const directory = resolve(dataDir)
  if (!existsSync(join(directory, LOG_FILE))) {
    throw new Error(`there is no event log in ${directory}: set DATA_DIR to where it is`)
  }
  return task === undefined ? nothing : holdStopped(directory, { task })
}

/** Opens the store of the service, in files or on MongoDB. */
export async function openStore({ config, name }: Use): Promise<Store> {
  const { distributed, logLevel, dataDir } = config
  if (distributed === undefined) return openSqliteStore({ directory: resolve(dataDir) })
  const logger = createLogger({ level: logLevel, name })
  return openMongoStore({ url: distributed.mongodbUrl, clock, logger })
}

/**
 * Opens the event log of the service, in a file or on Kafka. `onFatal`: the log can no longer be
 * read.
 */
export function openEventLog(
  { config, name }: Use,
  { onFatal = () => undefined }: { onFatal?: () => void } = {},
): EventLog {
  const { distributed, logLevel, dataDir } = config
  const logger = createLogger({ level: logLevel, name })
  if (distributed === undefined) {
    const directory = resolve(dataDir)
    privateDirectory(directory, { variable: 'DATA_DIR', logger })
    return openSqliteEventLog({ file: join(directory, LOG_FILE), clock, logger })
  }
  return openKafkaEventLog({
    ...distributed.kafka,
    clientId: name,
    clock,
    logger,
    onFatal(error) {
      logger.fatal({ err: error }, 'event log failed')
      onFatal()
    },
  })
}

export const openData: OpenData = (directory) => {
  const file = join(directory, LOG_FILE)
  return {
    store: openSqliteStore({ directory }),
    eventLog: openSqliteEventLog({ file, clock }),
    countEvents: () => countSqliteEvents(file),
  }
}

const WITHIN_MS = 30_000
const ASKED_EVERY_MS = 200

type Dependency = { ready(): Promise<void> }

/**
 * Resolves once all are ready: directly after the start a connection may not be established yet.
 * @throws the last error of `ready`, after `withinMs` or when `signal` is aborted.
 */
export async function awaitReady(
  dependencies: readonly Dependency[],
  { withinMs = WITHIN_MS, signal }: { withinMs?: number; signal?: AbortSignal } = {},
): Promise<void> {
  const deadline = performance.now() + withinMs
  for (;;) {
    try {
      await Promise.all(dependencies.map((dependency) => dependency.ready()))
      return
    } catch (error) {
      if (signal?.aborted === true || performance.now() >= deadline) throw error
      await pause(ASKED_EVERY_MS)
    }
  }
}
