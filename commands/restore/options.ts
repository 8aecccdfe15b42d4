import { parseDirectory, type Options } from '../backup/options.ts'

export type { Options }

export const HELP = `Usage: npm run restore -- DIR

Puts the backup in DIR, which \`npm run backup\` has made, into DATA_DIR, which must be empty or not exist yet. The
backup is checked first: each file is as it was written, of a version that this program knows, and log and read
models belong together. If anything is wrong, DATA_DIR stays as it is.

  DIR       the folder with the backup, which stays as it is
  --help    this text

Then start the service: it goes on where the backup began. Reports acknowledged after that are not in it.

Exit code: 0 the data are in DATA_DIR, 1 they are not and it is as it was, 2 the command line is wrong.
`

/** @throws {UsageError} that says what to enter. */
export function parseOptions(args: readonly string[]): Options | 'help' {
  return parseDirectory(args, 'say where the backup is: npm run restore -- DIR; see --help')
}
