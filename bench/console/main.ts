import { UsageError } from '../../runtime/arguments.ts'
import { progressOn } from '../progress.ts'
import { measureConsole } from './measure.ts'
import { CONSOLE_HELP, parseConsoleOptions, type ConsoleOptions } from './options.ts'
import { consoleTable } from './table.ts'

// So that what has been started ends too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
process.exitCode = await bench(process.argv.slice(2))

/** `npm run bench:console`. Returns the exit code. */
async function bench(args: readonly string[]): Promise<number> {
  let options: ConsoleOptions | 'help'
  try {
    options = parseConsoleOptions(args)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    return 2
  }
  if (options === 'help') {
    process.stdout.write(CONSOLE_HELP)
    return 0
  }
  const progress = progressOn(process.stderr, () => performance.now())
  const result = await measureConsole(options, progress)
  process.stdout.write(consoleTable(result, options.rounds))
  return result.faults.length === 0 ? 0 : 1
}
