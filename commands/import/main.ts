import { senderKeys } from '../../runtime/config/config.ts'
import { runCommand } from '../command.ts'
import { importHistory } from './import-history.ts'
import { HELP, parseOptions, type Options } from './options.ts'
import { ImportTally, exitCode, importSummary } from './tally.ts'

process.exitCode = await runCommand(process.argv.slice(2), {
  help: HELP,
  parse: (args) => parseOptions(args, senderKeys()),
  run: importAndReport,
  afterFailure: 'Start it again: no point is stored twice.\n',
})

async function importAndReport(options: Options): Promise<number> {
  const tally = new ImportTally()
  try {
    await importHistory(options, { tally, screen: process.stderr })
  } finally {
    process.stdout.write(importSummary(tally, { dryRun: options.target === undefined }))
  }
  return exitCode(tally)
}
