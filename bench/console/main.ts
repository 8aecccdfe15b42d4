import { measured } from '../part.ts'
import { progressOn } from '../progress.ts'
import { runBench } from '../run-bench.ts'
import { measureConsole } from './measure.ts'
import { CONSOLE_HELP, parseConsoleOptions, type ConsoleOptions } from './options.ts'
import { consoleTable } from './table.ts'

await runBench({ help: CONSOLE_HELP, parse: parseConsoleOptions, run: bench })

async function bench(options: ConsoleOptions): Promise<number> {
  const progress = progressOn(process.stderr, () => performance.now())
  const console = measured(await measureConsole(options, progress), options.rounds)
  process.stdout.write(consoleTable(console))
  return console.faults.length === 0 ? 0 : 1
}
