import type { Digest } from './digest.ts'
import { formatThousands } from '../progress.ts'
import type { Compared, RebuildOutcome } from './rebuild.ts'

/** Formats a rebuild's outcome and the next step, for the terminal. */
export function report(outcome: RebuildOutcome): string {
  switch (outcome.kind) {
    case 'busy':
      return (
        'Another rebuild is in progress, or was killed less than 30 s ago. Wait until it has ended, ' +
        'then start this again.\n'
      )
    case 'stopped':
      return 'Stopped. The old read models stay in use; start this again at any time.\n'
    case 'log too short':
      return (
        `Not started: ${outcome.reason}.\n` +
        'New read models would lack what only the old ones hold. If that is what you want: ' +
        'npm run rebuild -- --force\n'
      )
    case 'different':
      return (
        `${formatComparison(outcome.compared)}${compared(outcome.compared)} differ: the old read models stay in use, the new ones ` +
        'are removed.\nIf the log is whole, it is the old ones that are damaged, and this puts ' +
        'the new ones in use: npm run rebuild -- --force\n'
      )
    case 'switched': {
      const { from, to, equal } = outcome.compared
      const verdict =
        compared(outcome.compared) +
        (equal ? ' are equal.' : ' differ; switched all the same (--force).')
      return (
        `${formatComparison(outcome.compared)}${verdict} ` +
        `Generation ${to} is in use, generation ${from} is removed.\n`
      )
    }
  }
}

function compared({ comparesDevices }: Compared): string {
  return comparesDevices ? 'They' : 'Their records'
}

function formatComparison({ from, to, before, after, comparesDevices }: Compared): string {
  return (
    'As of the start of the rebuild:\n' +
    `  generation ${from} (old)  ${amounts(before, comparesDevices)}\n` +
    `  generation ${to} (new)  ${amounts(after, comparesDevices)}\n` +
    (comparesDevices
      ? ''
      : 'The old device statuses are from another version: they are not compared.\n')
  )
}

function amounts({ records, devices }: Digest, comparesDevices: boolean): string {
  return (
    `${formatThousands(records.count)} records ${records.hash.slice(0, 16)}  ` +
    `${formatThousands(devices.count)} devices${comparesDevices ? ` ${devices.hash.slice(0, 16)}` : ''}`
  )
}
