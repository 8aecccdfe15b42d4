import { commandLine, UsageError } from '../../runtime/process/command-line.ts'

export type Options = { readonly action: 'list' | 'replay' }

const line = commandLine({
  begin: `Usage: npm run dead-letters -- list|replay

Dead letters are entries of the event log that the projector could not read. They are kept with the
reason and their offset.`,
  operands: {
    list: 'shows them, and which of them this version can read',
    replay:
      'appends the ones that this version can read to the log again, byte for byte, so that they are projected; ' +
      'the others stay. An erasure stays too, because it would remove later reports: erase the device again. ' +
      'Reports from before an erasure of their device are removed.',
  },
  options: {},
  end: `It works where \`npm start\` does (DATA_DIR), for replay while that is stopped, and with KAFKA_BROKERS and
MONGODB_URL on the distributed service while it runs. If it is killed, an entry may be left twice, as a
repeat in the log or among the dead letters: start it again.

Exit code: 0 done, 1 it could not be done, 2 the command line is wrong.`,
})
export const HELP = line.help

/** @throws {UsageError} unless there is exactly one known action. */
export function parseOptions(args: readonly string[]): Options | 'help' {
  return line.parse(args, (_, [action, ...more]) => {
    if (more.length === 0 && (action === 'list' || action === 'replay')) return { action }
    throw new UsageError('enter list or replay: see --help')
  })
}
