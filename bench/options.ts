import {
  commandLine,
  refuseOptions,
  UsageError,
  type OptionValues,
} from '../runtime/process/command-line.ts'
import { numberOption } from '../runtime/process/option-values.ts'
import type { FleetSize } from './capacity.ts'

const PARTS = [
  ...(['embedded', 'kafka', 'senders', 'readable', 'sqlite', 'mongodb', 'facts', 'reads'] as const),
  'places',
  ...(['webhooks-embedded', 'webhooks-kafka'] as const),
] as const
export type PartName = (typeof PARTS)[number]

export type Options = {
  readonly parts: ReadonlySet<PartName>
  readonly short: boolean
  readonly rounds: number
  /** The length of one window. */
  readonly seconds: number
  /** Undefined: enough that each stays far below its limit. */
  readonly devices: number | undefined
  /** Webhooks: the number in the log. */
  readonly positions: number
  readonly file: string
  /** Print the needs of fleets instead of measuring. */
  readonly capacity: FleetSize | undefined
}

const OPTIONS = {
  short: { type: 'boolean', about: 'seconds instead of minutes, for a first look' },
  rounds: {
    type: 'string',
    value: 'N',
    about: 'how often everything is measured; the median counts (default 5, with --short 1)',
  },
  seconds: {
    type: 'string',
    value: 'N',
    about: 'duration of one window of load (default 3, with --short 0.7)',
  },
  devices: {
    type: 'string',
    value: 'N',
    about:
      'submit: how many devices report in turn (default 20000); each has reported before. With --capacity: ' +
      'the size of the fleet',
  },
  positions: {
    type: 'string',
    value: 'N',
    about: 'webhooks: how many positions are sent (default 1000000, with --short 20000)',
  },
  json: {
    type: 'string',
    value: 'FILE',
    about:
      'the file of the result; tables that are not measured now stay in it (default .cache/bench.json)',
  },
  capacity: {
    type: 'boolean',
    about:
      'prints what a fleet needs, by default 10^4, 10^6 and 10^8 devices, from a result (default ' +
      'bench/result.json)',
  },
  interval: {
    type: 'string',
    value: 'N',
    about: 'with it: seconds between two reports of a device (default 10)',
  },
  retention: { type: 'string', value: 'N', about: 'with it: RETENTION_DAYS (default 30)' },
} as const

const line = commandLine({
  begin: `Measures the service on this machine and prints tables. Linux only.

  npm run bench -- [PART …] [--short] [--rounds N] [--seconds N] [--devices N] [--positions N] [--json FILE]
  npm run bench -- --capacity [--devices N] [--interval N] [--retention N] [--json FILE]

Without PART: submit senders readable projector`,
  operands: {
    submit: 'taking reports: embedded and kafka',
    '  embedded': '  everything in one process',
    '  kafka': '  the ingest API on Kafka, JSON and Avro',
    senders: 'reports of OsmAnd and Overland beside ours, ingest API on Kafka',
    readable: 'how soon a report can be read after its 200, embedded',
    projector: 'projecting a full log: sqlite, mongodb and facts',
    '  sqlite': '  from the embedded log into SQLite',
    '  mongodb': '  from Kafka into MongoDB',
    '  facts': '  into SQLite, with deciding facts and without',
    reads:
      'reading SQLite with 10^5 and 10^7 records, of 10^3 and 10^6 devices: half an hour, 10 GB',
    webhooks: 'all positions of a log through one webhook, in batches of 500, beside a consumer',
    '  webhooks-embedded': '  from the embedded log',
    '  webhooks-kafka': '  from Kafka',
    places: 'the names of places, and their memory: seconds',
  },
  options: OPTIONS,
  end: `Kafka, the schema registry and a MongoDB server are started as for the tests. Ends with code 1 if an
acknowledged report is not stored: then the figures are void.`,
})
export const HELP = line.help

const GROUPS: Readonly<Record<string, readonly PartName[]>> = {
  submit: ['embedded', 'kafka'],
  projector: ['sqlite', 'mongodb', 'facts'],
  webhooks: ['webhooks-embedded', 'webhooks-kafka'],
}
const DEFAULT = ['submit', 'senders', 'readable', 'projector']

/** @throws {UsageError} */
export function parseOptions(args: readonly string[]): Options | 'help' {
  return line.parse(args, (values, names) => optionsOf(values, names))
}

function optionsOf(values: OptionValues<typeof OPTIONS>, positionals: readonly string[]): Options {
  const short = values.short === true
  const names = positionals.length === 0 ? DEFAULT : positionals
  const isCapacity = values.capacity === true
  if (isCapacity) {
    if (positionals.length > 0) throw new UsageError('--capacity measures nothing: leave PART out')
    refuseOptions(
      values,
      ['short', 'rounds', 'seconds', 'positions'],
      'cannot be given with --capacity',
    )
  } else refuseOptions(values, ['interval', 'retention'], 'needs --capacity')
  const devices = numberOption(values, 'devices', {
    fallback: undefined,
    min: 1,
    max: 1e9,
    whole: true,
  })
  return {
    parts: new Set(names.flatMap(partsOf)),
    short,
    rounds: numberOption(values, 'rounds', {
      fallback: short ? 1 : 5,
      min: 1,
      max: 100,
      whole: true,
    }),
    seconds: numberOption(values, 'seconds', { fallback: short ? 0.7 : 3, min: 0.1, max: 60 }),
    devices,
    positions: numberOption(values, 'positions', {
      fallback: short ? 20_000 : 1_000_000,
      min: 1,
      max: 1e8,
      whole: true,
    }),
    file: values.json ?? (isCapacity ? 'bench/result.json' : '.cache/bench.json'),
    capacity: isCapacity
      ? {
          devices,
          intervalSeconds: numberOption(values, 'interval', {
            fallback: 10,
            min: 0.01,
            max: 86_400,
          }),
          retentionDays: numberOption(values, 'retention', {
            fallback: 30,
            min: 1,
            max: 3_650,
            whole: true,
          }),
        }
      : undefined,
  }
}

function partsOf(name: string): readonly PartName[] {
  const parts = GROUPS[name] ?? PARTS.filter((part) => part === name)
  if (parts.length > 0) return parts
  throw new UsageError(`there is no part "${name}": --help lists them`)
}
