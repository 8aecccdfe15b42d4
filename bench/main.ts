import { join } from 'node:path'
import { openKafkaEventLog } from '../event-log/kafka/kafka-event-log.ts'
import { openSqliteEventLog } from '../event-log/sqlite/sqlite-event-log.ts'
import { UsageError } from '../runtime/arguments.ts'
import { systemClock as clock } from '../runtime/clock.ts'
import { createLogger } from '../runtime/logger.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import type { EmbeddedFiles } from './candidates/embedded.ts'
import type { OpenTopics } from './candidates/kafka.ts'
import { HELP, parseOptions, type Options } from './options.ts'
import { runParts } from './parts.ts'
import { progressOn } from './progress.ts'
import { readParts, resultOf, withMeasured, writeResult } from './result.ts'
import { tables } from './table.ts'

const logger = createLogger({ level: 'fatal', name: 'bench' })

// So that what has been started ends too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
process.exitCode = await bench(process.argv.slice(2))

/** `npm run bench`. Returns the exit code. */
async function bench(args: readonly string[]): Promise<number> {
  let options: Options | 'help'
  try {
    options = parseOptions(args)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    return 2
  }
  if (options === 'help') {
    process.stdout.write(HELP)
    return 0
  }
  const progress = progressOn(process.stderr, () => performance.now())
  const parts = await runParts(options, { openFiles, openTopics, progress })
  const result = resultOf(withMeasured(readParts(options.file), parts))
  writeResult(options.file, result)
  process.stdout.write(tables(result))
  progress(`written to ${options.file}`)
  return Object.values(parts).every(({ faults }) => faults.length === 0) ? 0 : 1
}

function openFiles(directory: string): EmbeddedFiles {
  return {
    eventLog: openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock }),
    store: openSqliteStore({ directory }),
  }
}

function openTopics({ brokers, topicPrefix }: Parameters<OpenTopics>[0]) {
  return openKafkaEventLog({
    ...{ brokers, topicPrefix, ssl: false, clientId: 'gps-bench', clock, logger },
    onFatal: (error) => {
      throw error
    },
  })
}
