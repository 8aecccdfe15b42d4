import { resolve } from 'node:path'
import { loadConfig } from '../../runtime/config/config.ts'
import { megabytes } from '../backup/backup.ts'
import { runCommand } from '../command.ts'
import { openData } from '../open.ts'
import { showProgress } from '../progress.ts'
import { HELP, parseOptions, type Options } from './options.ts'
import { restore } from './restore.ts'

process.exitCode = await runCommand(process.argv.slice(2), { help: HELP, parse: parseOptions, run })

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
