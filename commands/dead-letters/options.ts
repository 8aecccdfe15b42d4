import { parseArguments, UsageError } from '../command.ts'

export type Options = { readonly action: 'list' | 'replay' }

export const HELP = `Usage: npm run dead-letters -- list|replay

Dead letters are entries of the event log that the projector could not read. They are kept with the
reason and the place where they stood.

  list     shows them, and which of them this version can read
  replay   appends those that this version can read to the log again, byte for byte, where they are
           projected; the others stay. An erasure stays too: it would take what was reported since,
           so erase the device again. What was reported before its device was erased is removed.
  --help   this text

Works where \`npm start\` does (DATA_DIR), for replay while that is stopped, and with KAFKA_BROKERS and
MONGODB_URL on the distributed service while it runs. Killed in the middle it may leave an entry twice:
as a repeat in the log, or among the dead letters. Start it again.

Exit code: 0 done, 1 it could not be done, 2 the command line is wrong.
`

/** @throws {UsageError} for anything but one known action. */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const options = { help: { type: 'boolean', short: 'h' } } as const
  const { values, positionals } = parseArguments(args, { options, allowPositionals: true })
  if (values.help === true) return 'help'
  const [action, ...more] = positionals
  if (more.length === 0 && (action === 'list' || action === 'replay')) return { action }
  throw new UsageError('give list or replay: --help says more')
}
