import { join } from 'node:path'
import { BSON } from 'mongodb'
import { runCommand } from '../commands/command.ts'
import { toMessage } from '../event-log/kafka/event-format.ts'
import { openKafkaEventLog } from '../event-log/kafka/kafka-event-log.ts'
import { openSqliteEventLog } from '../event-log/sqlite/sqlite-event-log.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import { createLogger } from '../runtime/process/logger.ts'
import { openMongoStore } from '../store/mongo/mongo-store.ts'
import { positionDocument } from '../store/mongo/position-documents.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import { killPrograms } from '../test/running-programs.ts'
import { capacity, type Bytes } from './capacity.ts'
import { eventOf } from './events.ts'
import { carryOut } from './fork.ts'
import { HELP, parseOptions, type Options } from './options.ts'
import type { Adapters } from './order.ts'
import { readResult, withMeasured, writeResult } from './part.ts'
import { JOBS, runParts, type JobOrder } from './parts.ts'
import { tables } from './table.ts'

const logger = createLogger({ level: 'error', name: 'bench' })
/** As long as a real id. */
const ID = '01KDVDNA00Z6JGGE5XXD5XW7P3'

const openLog = (directory: string) =>
  openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
const openStore = (directory: string) => openSqliteStore({ directory, clock })

const adapters: Adapters = {
  openLog,
  openStore,
  openFiles: (directory) => ({ eventLog: openLog(directory), store: openStore(directory) }),
  openTopics: ({ brokers, topicPrefix }) =>
    openKafkaEventLog({
      brokers: [...brokers],
      topicPrefix,
      ssl: false,
      clientId: 'gps-bench',
      clock,
      logger,
      onFatal: (error) => {
        throw error
      },
    }),
  openDatabase: (url) => openMongoStore({ url, logger, clock }),
}

if (process.send === undefined) await runBench()
else {
  carryOut(({ job, order }: JobOrder, progress) =>
    JOBS[job](order as never, { adapters, progress }),
  )
}

/** The processes that the bench started end with it, also when it is interrupted. */
async function runBench(): Promise<void> {
  process.once('exit', killPrograms)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  process.exitCode = await runCommand(process.argv.slice(2), {
    help: HELP,
    parse: parseOptions,
    run: bench,
  })
}

async function bench(options: Options): Promise<number> {
  const { file } = options
  if (options.capacity !== undefined) {
    process.stdout.write(capacity(readResult(file), bytesOfOne(), options.capacity))
    return 0
  }
  /** On standard error, so that the tables can be piped. */
  const progress = (doing: string) => {
    process.stderr.write(
      `${String(Math.round(performance.now() / 1000)).padStart(4)} s  ${doing}\n`,
    )
  }
  const now = await runParts(options, { adapters, progress })
  const result = options.isKept ? withMeasured(readResult(file), now) : now
  if (options.isKept) writeResult(file, result)
  process.stdout.write(tables(result))
  if (options.isKept) progress(`written to ${file}`)
  return now.every(({ faults }) => faults.length === 0) ? 0 : 1
}

function bytesOfOne(): Bytes {
  const event = { ...eventOf(1_234_567, { devices: 10_000 }), accountId: ID, keyId: ID }
  const { key, value, headers } = toMessage(event)
  const texts = [key, value, ...Object.entries(headers ?? {}).flat()]
  const origin = { partition: 7, offset: 123_456_789 }
  return {
    event: texts.reduce((sum, text) => sum + Buffer.byteLength(String(text)), 0),
    document: BSON.calculateObjectSize(positionDocument({ kind: 'position', origin, event })),
  }
}
