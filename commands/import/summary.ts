import { withThousands } from '../progress.ts'
import type { ImportTally } from './tally.ts'

const MOST_DEVICES = 20

/** The result for people, in lines. */
export function importSummary(tally: ImportTally, { dryRun }: { dryRun: boolean }): string {
  const skips = [...tally.skipped].sort(([, a], [, b]) => b.count - a.count)
  const devices = [...tally.devices]
  const lines = [
    `${dryRun ? 'would be imported' : 'accepted'}: ${withThousands(tally.accepted)}${known(tally, dryRun)}`,
    ...devices
      .slice(0, MOST_DEVICES)
      .map(([id, { count: n, from, to }]) => `  ${id}: ${withThousands(n)}, from ${from} to ${to}`),
    ...some(devices.length - MOST_DEVICES, (n) => `  and ${n} more devices`),
    ...some(tally.repeats, (n) => `repeats among them: ${n} (same device, time and place)`),
    ...some(tally.dropped, (n) => `attributes left out, too long or too many: ${n}`),
    ...some(tally.outside, (n) => `outside of --from and --to: ${n}`),
    ...[...tally.others].map(([what, n]) => `no positions, ${what}: ${withThousands(n)}`),
    ...[...tally.misspelt].map(
      ([name, n]) => `ignored, perhaps misspelt: ${name} (${withThousands(n)})`,
    ),
    ...skips.flatMap(([reason, { count: n, examples }]) => [
      `skipped, ${reason}: ${withThousands(n)}`,
      ...examples.map((example) => `  ${example}`),
    ]),
    ...tally.withoutPositions.map((file) => `no recorded position in ${file}`),
    ...tally.unreadable.map(
      ({ file, message }) => `could not be read to its end, ${file}: ${message}`,
    ),
  ]
  return `${lines.join('\n')}\n`
}

function known({ accepted }: ImportTally, dryRun: boolean): string {
  return dryRun || accepted === 0 ? '' : ' (the service has them now, whether new or known before)'
}

/** 2 if a file could not be read to its end, 1 if a point was skipped or a file has none, 0 otherwise. */
export function exitCode({ unreadable, skipped, withoutPositions }: ImportTally): number {
  if (unreadable.length > 0) return 2
  return skipped.size > 0 || withoutPositions.length > 0 ? 1 : 0
}

function some(n: number, line: (n: string) => string): string[] {
  return n > 0 ? [line(withThousands(n))] : []
}
