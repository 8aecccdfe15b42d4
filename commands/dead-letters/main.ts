import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { DeadLetterLog } from '../../event-log/dead-letters.ts'
import type { EventLog } from '../../event-log/event-log.ts'
import { openKafkaEventLog } from '../../event-log/kafka/kafka-event-log.ts'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { systemClock as clock } from '../../runtime/clock.ts'
import { runCommand } from '../command.ts'
import type { Config } from '../../runtime/config/config.ts'
import { createLogger } from '../../runtime/logger.ts'
import { holdStopped } from '../../runtime/sqlite/hold-directory.ts'
import { openMongoStore } from '../../store/mongo/mongo-store.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { listDeadLetters, replayDeadLetters } from './dead-letters.ts'
import { HELP, parseCommand, type Command } from './options.ts'
import { whenReady } from '../when-ready.ts'

const READY_WITHIN_MS = 30_000

// Everything is closed, but Kafka's client may leave timers behind.
process.exit(await runCommand(process.argv.slice(2), { help: HELP, parse: parseCommand, run }))

async function run(command: Exclude<Command, 'help'>, config: Config): Promise<void> {
  const { eventLog, store, close } = await open(command, config)
  const write = (text: string) => void process.stdout.write(text)
  const signal = AbortSignal.timeout(READY_WITHIN_MS)
  try {
    await whenReady([eventLog, store], { withinMs: READY_WITHIN_MS, signal })
    if (command === 'list') await listDeadLetters(eventLog, write)
    else await replayDeadLetters({ eventLog, store }, write)
  } finally {
    await close()
  }
}

type Opened = {
  readonly eventLog: EventLog & DeadLetterLog
  readonly store: Store
  readonly close: () => Promise<void>
}

async function open(command: Command, config: Config): Promise<Opened> {
  const logger = createLogger({ level: config.logLevel, name: 'gps-dead-letters' })
  const { distributed } = config
  if (distributed === undefined) return openEmbedded(command, resolve(config.dataDir))
  const eventLog = openKafkaEventLog({
    ...distributed.kafka,
    clientId: 'gps-dead-letters',
    clock,
    logger,
    onFatal: (error) => logger.fatal({ err: error }, 'the event log cannot go on'),
  })
  const store = await openMongoStore({ url: distributed.mongodbUrl, clock, logger })
  const close = async () => {
    await store.close()
    await eventLog.close()
  }
  return { eventLog, store, close }
}

function openEmbedded(command: Command, directory: string): Opened {
  const file = join(directory, 'log.sqlite')
  if (!existsSync(file)) {
    throw new Error(`there is no event log in ${directory}: set DATA_DIR to where it is`)
  }
  const held =
    command === 'replay' ? holdStopped(directory, { task: 'replay the dead letters' }) : undefined
  const eventLog = openSqliteEventLog({ file, clock })
  const store = openSqliteStore({ directory })
  const close = async () => {
    await store.close()
    await eventLog.close()
    held?.release()
  }
  return { eventLog, store, close }
}
