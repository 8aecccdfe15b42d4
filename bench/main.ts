import { join } from 'node:path'
import { BSON } from 'mongodb'
import { toMessage } from '../event-log/kafka/event-format.ts'
import { openKafkaEventLog } from '../event-log/kafka/kafka-event-log.ts'
import { openSqliteEventLog } from '../event-log/sqlite/sqlite-event-log.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import { createLogger } from '../runtime/process/logger.ts'
import { positionDocument } from '../store/mongo/position-documents.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import { capacity, type Bytes } from './capacity.ts'
import type { EmbeddedFiles } from './candidates/embedded.ts'
import type { OpenTopics } from './candidates/kafka.ts'
import { eventOf } from './events.ts'
import { figures } from './figures.ts'
import { HELP, parseOptions, type Options } from './options.ts'
import { readResult, withMeasured, writeResult } from './part.ts'
import { runParts } from './parts.ts'
import { progressOn } from './progress.ts'
import { runBench } from './run-bench.ts'
import { tables } from './table.ts'

const logger = createLogger({ level: 'fatal', name: 'bench' })
/** As long as a real id. */
const ID = '01KDVDNA00Z6JGGE5XXD5XW7P3'

await runBench({ help: HELP, parse: parseOptions, run: bench })

async function bench(options: Options): Promise<number> {
  if (options.capacity !== undefined) {
    process.stdout.write(capacity(readResult(options.file), bytesOfOne(), options.capacity))
    return 0
  }
  const progress = progressOn(process.stderr, () => performance.now())
  const now = await runParts(options, { openFiles, openTopics, progress })
  const result = withMeasured(readResult(options.file), now)
  writeResult(options.file, result)
  process.stdout.write(tables(result, figures(result)))
  progress(`written to ${options.file}`)
  return now.every(({ faults }) => faults.length === 0) ? 0 : 1
}

function openFiles(directory: string): EmbeddedFiles {
  return {
    eventLog: openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock }),
    store: openSqliteStore({ directory }),
  }
}

function openTopics({ brokers, topicPrefix }: Parameters<OpenTopics>[0]) {
  return openKafkaEventLog({
    brokers,
    topicPrefix,
    ssl: false,
    clientId: 'gps-bench',
    clock,
    logger,
    onFatal: (error) => {
      throw error
    },
  })
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
