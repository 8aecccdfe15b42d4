import { commandLine } from '../../runtime/process/command-line.ts'

export type Options = { readonly force: boolean }

const line = commandLine({
  begin: `Usage: npm run rebuild -- [--force]

Builds new read models (stored positions, device statuses) from the event log, beside the current ones,
while the service runs. Then it compares the two as of its start, and switches to the new ones if they
are equal. Device statuses from an earlier version are not compared. It works where \`npm start\` does
(DATA_DIR), running or not, and with KAFKA_BROKERS and MONGODB_URL on the distributed service. If it ends
before the switch, even by kill -9, the old read models stay in use; start it again.`,
  options: {
    force: {
      type: 'boolean',
      about:
        'switch to the new read models although they differ from the old ones, or although the log no longer ' +
        'holds everything that the old ones were made from. Records that only the old ones have are then lost.',
    },
  },
  end: 'Exit code: 0 switched, 1 not switched (it says why), 2 the command line is wrong.',
})
export const HELP = line.help

/** @throws {UsageError} */
export function parseOptions(args: readonly string[]): Options | 'help' {
  return line.parse(args, ({ force }) => ({ force: force === true }))
}
