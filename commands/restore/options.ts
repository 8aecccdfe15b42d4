import { commandLine } from '../../runtime/process/command-line.ts'
import { directoryIn, type Options } from '../backup/options.ts'

export type { Options }

const line = commandLine({
  begin: `Usage: npm run restore -- DIR

Copies the backup in DIR, made by \`npm run backup\`, into DATA_DIR, which must be empty or not exist yet. It first
checks that each file is unchanged and of a version that this program knows, and that log and read models belong
together. If anything is wrong, DATA_DIR stays as it is.`,
  operands: { DIR: 'the folder with the backup, which stays as it is' },
  options: {},
  end: `Then start the service: it continues from the time at which the backup began. Later reports are not in it.

Exit code: 0 the data are in DATA_DIR, 1 they are not and it is as it was, 2 the command line is wrong.`,
})
export const HELP = line.help

/** @throws {UsageError} that says what to enter. */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const missing = 'name the folder of the backup: npm run restore -- DIR; see --help'
  return line.parse(args, (_, operands) => directoryIn(operands, missing))
}
