import { commandLine, UsageError } from '../../runtime/process/command-line.ts'

export type Options = { readonly directory: string }

const line = commandLine({
  begin: `Usage: npm run backup -- DIR

Copies the data of \`npm start\` (DATA_DIR) into DIR while the service runs, and checks that each file of the copy
is whole and that log and read models belong together. DIR must be empty or not exist yet. The complete backup
has all reports that were acknowledged before it started, and accounts, operators, keys, shares and audit.`,
  operands: { DIR: 'a new folder, for example /backups/$(date +%F)' },
  options: {},
  end: `\`npm run restore -- DIR\` puts it into an empty DATA_DIR. Anyone who can read DIR can read all positions and the hashes
of keys and passwords: only this user may. Back up services on Kafka and MongoDB with their own tools:
docs/operations.md.

Exit code: 0 the backup is complete, 1 it is not and DIR is as it was, 2 the command line is wrong.`,
})
export const HELP = line.help

/** @throws {UsageError} that says what to enter. */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const missing = 'name the folder for the backup: npm run backup -- DIR; see --help'
  return line.parse(args, (_, operands) => requireDirectory(operands, missing))
}

/**
 * Returns the only operand, a folder. @throws {UsageError} with `missing` if it is absent, or if
 * there are more operands.
 */
export function requireDirectory(
  [directory, ...extra]: readonly string[],
  missing: string,
): Options {
  if (!directory || extra.length > 0) throw new UsageError(missing)
  return { directory }
}
