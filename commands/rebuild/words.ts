import { commandLine } from '../../runtime/process/command-line.ts'
import type { Digest } from './digest.ts'
import { withThousands } from '../progress.ts'
import type { Compared, RebuildOutcome } from './rebuild.ts'

export type Options = { readonly force: boolean }

const line = commandLine({
  begin: `Usage: npm run rebuild -- [--force]

Builds new read models (stored positions, device statuses) from the event log, beside the current ones,
while the service runs. Then it compares the two as of its beginning, and switches to the new ones if they
are equal. Device statuses that an earlier version made are not compared. It works where \`npm start\` does
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

/** The outcome of a rebuild in words, and the next step. */
export function report(outcome: RebuildOutcome): string {
  switch (outcome.kind) {
    case 'busy':
      return (
        'Another rebuild is under way, or was killed less than 30 s ago. Wait until it has ended, ' +
        'then start this again.\n'
      )
    case 'stopped':
      return 'Stopped. The old read models stay in use; start this again at any time.\n'
    case 'log too short':
      return (
        `Not begun: ${outcome.reason}.\n` +
        'New read models would lack what only the old ones hold. If that is what you want: ' +
        'npm run rebuild -- --force\n'
      )
    case 'different':
      return (
        `${comparison(outcome.compared)}${compared(outcome.compared)} differ: the old read models stay in use, the new ones ` +
        'are removed.\nIf the log is whole, it is the old ones that are damaged, and this puts ' +
        'the new ones in use: npm run rebuild -- --force\n'
      )
    case 'switched': {
      const { from, to, equal } = outcome.compared
      const verdict =
        compared(outcome.compared) +
        (equal ? ' are equal.' : ' differ; switched all the same (--force).')
      return (
        `${comparison(outcome.compared)}${verdict} ` +
        `Generation ${to} is in use, generation ${from} is removed.\n`
      )
    }
  }
}

function compared({ comparesDevices }: Compared): string {
  return comparesDevices ? 'They' : 'Their records'
}

function comparison({ from, to, before, after, comparesDevices }: Compared): string {
  return (
    'As of the beginning of the rebuild:\n' +
    `  generation ${from} (old)  ${amounts(before, comparesDevices)}\n` +
    `  generation ${to} (new)  ${amounts(after, comparesDevices)}\n` +
    (comparesDevices
      ? ''
      : 'Another version made the old device statuses: they are not compared.\n')
  )
}

function amounts({ records, devices }: Digest, comparesDevices: boolean): string {
  return (
    `${withThousands(records.count)} records ${records.hash.slice(0, 16)}  ` +
    `${withThousands(devices.count)} devices${comparesDevices ? ` ${devices.hash.slice(0, 16)}` : ''}`
  )
}
