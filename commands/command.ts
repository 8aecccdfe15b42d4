import { parseArgs, type ParseArgsConfig } from 'node:util'
import { ConfigError } from '../runtime/config/config.ts'

/** The command line is invalid; the message says what to enter instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Parses a command line. @throws {UsageError} for the first invalid argument. */
export function parseArguments<Config extends ParseArgsConfig>(
  args: readonly string[],
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs<Config>({ ...config, args: [...args] })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    // A misplaced key must not be printed.
    const [first = message] = message.replace(/gps_\w+/g, 'gps_…').split(/\. |\n/)
    throw new UsageError(`${first.replace(/\.$/, '')}: --help lists the options`)
  }
}

/**
 * The number that an option has, or `fallback` if it is absent.
 * @throws {UsageError} outside `min` to `max`, or if it must be whole and is not.
 */
export function numberOption<Name extends string, Fallback>(
  values: { readonly [N in Name]?: unknown },
  name: Name,
  range: { fallback: Fallback; min: number; max: number; whole?: boolean },
): number | Fallback {
  const text = values[name]
  if (typeof text !== 'string') return range.fallback
  const value = Number(text)
  const { min, max, whole = false } = range
  if (text.trim() !== '' && value >= min && value <= max && (!whole || Number.isInteger(value))) {
    return value
  }
  const kind = whole ? 'a whole number' : 'a number'
  throw new UsageError(`--${name} must be ${kind} from ${min} to ${max}, not "${text}"`)
}

/**
 * Runs a command. Returns its exit code: that of `run` (none: 0), 1 if it fails or standard output is
 * lost, 2 if the command line is invalid. `afterFailure` is written after the reason.
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
 * Lets the command go on if its output is lost, on a full disk or in a pipe that nobody reads. The
 * returned function waits until standard output is written, and returns what went wrong.
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
