import { commandLine, UsageError } from '../../runtime/process/command-line.ts'

export type Options = { readonly email: string }

const line = commandLine({
  begin: `Usage: npm run set-password -- --email admin@example.com

Gives an operator of the console a new password, if nobody can sign in there to do so. All sessions of
this operator end. The audit of its account says that this program did it.

The new password is read from standard input; it has 12 to 1024 characters, and is not the current one:

  npm run --silent set-password -- --email admin@example.com < file

If standard input is a terminal, a password is generated and written to standard output, once.`,
  options: {
    email: { type: 'string', value: 'E-MAIL', about: 'the e-mail that the operator signs in with' },
  },
  end: `It works where \`npm start\` does (DATA_DIR), while that is stopped, and with KAFKA_BROKERS and MONGODB_URL
on the distributed service while it runs.

Exit code: 0 done, 1 it could not be done, 2 the command line is wrong.`,
})
export const HELP = line.help

/** @throws {UsageError} that lists the options. */
export function parseOptions(args: readonly string[]): Options | 'help' {
  return line.parse(args, ({ email }) => {
    if (email) return { email }
    throw new UsageError('enter the operator’s e-mail: --email admin@example.com; see --help')
  })
}
