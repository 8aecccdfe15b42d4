import { UsageError } from '../runtime/process/command-line.ts'
import { ConfigError } from '../runtime/config/config.ts'

/**
 * Runs a command. Returns its exit code: the result of `run` (none: 0), 1 if it fails or standard
 * output is lost, 2 if the command line is invalid. `afterFailure` is written after the reason.
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
    /** @throws {UsageError} if the command line turns out to be invalid only once files are read. */
    run: (options: Exclude<Options, 'help'>) => Promise<number | void>
    afterFailure?: string
  },
): Promise<number> {
  const written = watchOutput()
  try {
    const options = parse(args)
    let code = 0
    if (options === 'help') process.stdout.write(help)
    else code = (await run(options as Exclude<Options, 'help'>)) ?? 0
    const fault = await written()
    if (fault === undefined) return code
    process.stderr.write(`Standard output cannot be written: ${fault.message}\n`)
    return code || 1
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const isExpected = error instanceof UsageError || error instanceof ConfigError
    process.stderr.write(isExpected ? `${reason}\n` : `Failed: ${reason}\n${afterFailure}`)
    return error instanceof UsageError ? 2 : 1
  }
}

/**
 * Keeps the command running if its output is lost, on a full disk or in a pipe that nobody reads.
 * The returned function waits until standard output is written, and returns the error, if any.
 */
function watchOutput(): () => Promise<Error | undefined> {
  let fault: Error | undefined
  process.stdout.on('error', (error: Error) => (fault ??= error))
  process.stderr.on('error', () => undefined)
  return async () => {
    await new Promise<void>((resolve) => process.stdout.write('', () => resolve()))
    return fault
  }
}
