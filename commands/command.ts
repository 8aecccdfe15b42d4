import { UsageError } from '../runtime/arguments.ts'
import { ConfigError, type Config } from '../runtime/config/config.ts'
import { loadConfig } from '../runtime/config/load-config.ts'

/**
 * Runs a command for operators. Gives its exit code: that of `run` (none: 0), 1 if it fails, 2 if the
 * command line is wrong. `afterFailure` is told besides the reason.
 */
export async function runCommand<Options>(
  args: readonly string[],
  {
    help,
    parse,
    run,
    afterFailure = '',
  }: {
    help: string
    /** @throws {UsageError} */
    parse: (args: readonly string[]) => Options | 'help'
    run: (options: Exclude<Options, 'help'>, config: Config) => Promise<number | void>
    afterFailure?: string
  },
): Promise<number> {
  try {
    const options = parse(args)
    if (options !== 'help')
      return (await run(options as Exclude<Options, 'help'>, loadConfig())) ?? 0
    process.stdout.write(help)
    return 0
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const isOurs = error instanceof UsageError || error instanceof ConfigError
    process.stderr.write(isOurs ? `${reason}\n` : `Failed: ${reason}\n${afterFailure}`)
    return error instanceof UsageError ? 2 : 1
  }
}
