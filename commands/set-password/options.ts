import { parseArguments, UsageError } from '../command.ts'

export type Options = { readonly email: string }

export const HELP = `Usage: npm run set-password -- --email admin@example.com

Gives an operator of the console a new password, if nobody can sign in there to do so. All sessions of
this operator end. The audit of its account says that this program did it.

The new password is read from standard input; it has 12 to 1024 characters, and is not the current one:

  npm run --silent set-password -- --email admin@example.com < file

If standard input is a terminal, a password is generated and written to standard output, once.

  --email   the e-mail that the operator signs in with
  --help    this text

It works where \`npm start\` does (DATA_DIR), while that is stopped, and with KAFKA_BROKERS and MONGODB_URL
on the distributed service while it runs.

Exit code: 0 done, 1 it could not be done, 2 the command line is wrong.
`

/** @throws {UsageError} that lists the options. */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const options = { email: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const
  const { email, help } = parseArguments(args, { options }).values
  if (help === true) return 'help'
  if (!email)
    throw new UsageError('enter the operator’s e-mail: --email admin@example.com; see --help')
  return { email }
}
