import { resolve } from 'node:path'
import { loadConfig } from '../../runtime/config/config.ts'
import { commandLine } from '../../runtime/process/command-line.ts'
import { megabytes } from '../backup/backup.ts'
import { requireDirectory, type Options } from '../backup/options.ts'
import { runCommand } from '../command.ts'
import { openData } from '../open.ts'
import { showProgress } from '../progress.ts'
import { restore } from './restore.ts'

const line = commandLine({
  begin: `Usage: npm run restore -- DIR

Copies the backup in DIR, made by \`npm run backup\`, into DATA_DIR, which must be empty or not exist yet. It first
checks that each file is unchanged and of a version that this program knows, and that log and read models belong
together. If anything is wrong, DATA_DIR stays as it is.`,
  operands: { DIR: 'the folder with the backup, which is not changed' },
  options: {},
  end: `Then start the service: it continues from the time at which the backup started. It does not include later reports.

Exit code: 0 the data are in DATA_DIR, 1 they are not and it is as it was, 2 the command line is wrong.`,
})

process.exitCode = await runCommand(process.argv.slice(2), {
  help: line.help,
  parse: parseOptions,
  run,
})

/** @throws {UsageError} that says what to enter. */
function parseOptions(args: readonly string[]): Options | 'help' {
  const missing = 'name the folder of the backup: npm run restore -- DIR; see --help'
  return line.parse(args, (_, operands) => requireDirectory(operands, missing))
}

async function run({ directory }: Options): Promise<void> {
  const config = loadConfig()
  if (config.distributed !== undefined) {
    throw new Error('Kafka and MongoDB are restored with their own tools: docs/operations.md')
  }
  process.umask(0o077)
  const to = resolve(config.dataDir)
  const progress = showProgress({ screen: process.stderr, now: () => performance.now() })
  const { files, begunAt } = await restore({
    from: resolve(directory),
    to,
    openData,
    show: (step) => progress.show(() => step),
  }).finally(() => progress.end())
  const size = megabytes(files.reduce((sum, { bytes }) => sum + bytes, 0))
  process.stdout.write(
    `${to} has the backup from ${new Date(begunAt).toISOString()}, ${size}: start the service.\n`,
  )
}
