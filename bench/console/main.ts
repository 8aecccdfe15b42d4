import { runCommand } from '../../commands/command.ts'
import { killPrograms } from '../../test/running-programs.ts'
import { measured } from '../part.ts'
import { progressOn } from '../progress.ts'
import { measureConsole } from './measure.ts'
import { CONSOLE_HELP, parseConsoleOptions, type ConsoleOptions } from './options.ts'
import { consoleTable } from './table.ts'

// So that all started processes end too.
process.once('exit', killPrograms)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
process.exitCode = await runCommand(process.argv.slice(2), {
  help: CONSOLE_HELP,
  parse: parseConsoleOptions,
  run: bench,
})

async function bench(options: ConsoleOptions): Promise<number> {
  const progress = progressOn(process.stderr, () => performance.now())
  const console = measured(await measureConsole(options, progress), options.rounds)
  process.stdout.write(consoleTable(console))
  return console.faults.length === 0 ? 0 : 1
}
