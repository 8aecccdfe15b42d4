import { runCommand } from '../commands/command.ts'
import { killPrograms } from '../test/running-programs.ts'

/** Runs a command of the bench; the processes that it started end with it, also when it is interrupted. */
export async function runBench<Options>(
  command: Parameters<typeof runCommand<Options>>[1],
): Promise<void> {
  process.once('exit', killPrograms)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  process.exitCode = await runCommand(process.argv.slice(2), command)
}
