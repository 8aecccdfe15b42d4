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
import { measureAgainst } from './against.ts'
import { startServers, type Servers } from './candidates/servers.ts'
import { capacity, type Bytes } from './capacity.ts'
import { eventOf, idOf } from './events.ts'
import { carryOut, progress } from './fork.ts'
import { HELP, parseOptions, type Options, type PartName } from './options.ts'
import type { Adapters, Order } from './order.ts'
import { measurePart, readResult, replaceMeasured, writeResult } from './part.ts'
import type { MeasuredPart, Part } from './part.ts'
import { measurePlaces, namePlaces } from './places.ts'
import { measureProjector, projectInRounds } from './projector/measure.ts'
import { measureReadable } from './readable.ts'
import { measureSoak } from './soak/soak.ts'
import { measureSubmit } from './submit.ts'
import { tables } from './table.ts'

const logger = createLogger({ level: 'error', name: 'bench' })
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

/** The tables, and the parts that produce each. */
const TABLES: readonly [readonly PartName[], (order: Order) => Promise<Part>][] = [
  [['embedded', 'kafka'], measureSubmit],
  [['readable'], measureReadable],
  [['sqlite', 'mongodb'], measureProjector],
  [['places'], measurePlaces],
  // Loads the browser driver, which no other part needs.
  [['console'], async (order) => (await import('./console/measure.ts')).measureConsole(order)],
  [['soak'], measureSoak],
  [['against'], measureAgainst],
]

/** The work of parts that runs in a separate process: this program as a child. */
const JOBS = { namePlaces, projectInRounds } as const

if (process.send === undefined) await runBench()
else {
  carryOut(({ job, order }: { job: keyof typeof JOBS; order: object }) =>
    JOBS[job](order as never, adapters),
  )
}

/** The processes started by the bench end with it, even when it is interrupted. */
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
  const now = await measureParts(options)
  const result = options.isKept ? replaceMeasured(readResult(file), now) : now
  if (options.isKept) writeResult(file, result)
  process.stdout.write(tables(result))
  if (options.isKept) progress(`written to ${file}`)
  return now.every(({ faults }) => faults.length === 0) ? 0 : 1
}

/** Measures the chosen parts, one after the other, and runs the servers that they need. */
async function measureParts(options: Options): Promise<MeasuredPart[]> {
  let starting: Promise<Servers> | undefined
  const servers = () => {
    if (starting === undefined) progress('starting Kafka, a schema registry and a MongoDB server')
    return (starting ??= startServers())
  }
  const done: MeasuredPart[] = []
  try {
    for (const [parts, measure] of TABLES) {
      if (!parts.some((part) => options.parts.has(part))) continue
      done.push(measurePart(await measure({ ...options, adapters, servers }), options.rounds))
    }
    return done
  } finally {
    await (await starting)?.stop()
  }
}

/** With ids as long as real ones. */
function bytesOfOne(): Bytes {
  const event = { ...eventOf(1_234_567, 10_000), accountId: idOf(1), keyId: idOf(2) }
  const { key, value, headers } = toMessage(event)
  const texts = [key, value, ...Object.entries(headers ?? {}).flat()]
  const origin = { partition: 7, offset: 123_456_789 }
  return {
    event: texts.reduce((sum, text) => sum + Buffer.byteLength(String(text)), 0),
    document: BSON.calculateObjectSize(positionDocument({ kind: 'position', origin, event })),
  }
}
