import { parseArgs, type ParseArgsConfig } from 'node:util'

/** The command line is wrong; the message says what to give. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Parses a command line. @throws {UsageError} for the first argument that does not fit. */
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
    throw new UsageError(`${first.replace(/\.$/, '')}: --help lists what can be given`)
  }
}
