import { resolve } from 'node:path'
import { systemClock as clock } from '../../runtime/clock.ts'
import { loadConfig } from '../../runtime/config/config.ts'
import { copySqliteStore } from '../../store/sqlite/copy-store.ts'
import { runCommand } from '../command.ts'
import { holdData, LOG_FILE, openData } from '../open.ts'
import { formatThousands, showProgress } from '../progress.ts'
import { backUp, megabytes } from './backup.ts'
import { HELP, parseOptions, type Options } from './options.ts'

process.exitCode = await runCommand(process.argv.slice(2), { help: HELP, parse: parseOptions, run })

async function run({ directory }: Options): Promise<void> {
  const config = loadConfig()
  if (config.distributed !== undefined) {
    throw new Error('Kafka and MongoDB are backed up with their own tools: docs/operations.md')
  }
  holdData(config)
  // Files created by SQLite must be readable by this user alone, too.
  process.umask(0o077)
  const progress = showProgress({ screen: process.stderr, now: () => performance.now() })
  const { files, events, projected } = await backUp({
    from: resolve(config.dataDir),
    to: resolve(directory),
    logFile: LOG_FILE,
    copyStore: copySqliteStore,
    openData,
    clock,
    show: (step) => progress.show(() => step),
  }).finally(() => progress.end())
  const size = megabytes(files.reduce((sum, { bytes }) => sum + bytes, 0))
  process.stdout.write(
    `${resolve(directory)} has a complete backup: ${size}, ${formatThousands(events)} events, ` +
      `${formatThousands(projected)} of them in its read models.\n`,
  )
}
