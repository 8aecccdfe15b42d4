import {
  commandLine,
  refuseOptions,
  UsageError,
  type OptionValues,
  numberOption,
} from '../runtime/process/command-line.ts'
import type { FleetSize } from './capacity.ts'

const GROUPS = {
  submit: ['embedded', 'kafka'],
  projector: ['sqlite', 'mongodb', 'facts'],
  webhooks: ['webhooks-embedded', 'webhooks-kafka'],
} as const
const SINGLE = ['senders', 'readable', 'reads', 'places', 'console', 'soak', 'against'] as const
const DEFAULT = ['submit', 'senders', 'readable', 'projector']

export type PartName = (typeof GROUPS)[keyof typeof GROUPS][number] | (typeof SINGLE)[number]

export type Options = {
  readonly parts: ReadonlySet<PartName>
  readonly short: boolean
  readonly rounds: number
  /** The length of one window. */
  readonly seconds: number
  /** How long the heap of the console is watched, or the load of the soak lasts. */
  readonly minutes: number
  /** Reports a second of the soak. */
  readonly rate: number
  /** Undefined: enough that each stays far below its limit. */
  readonly devices: number | undefined
  /** Webhooks: the number in the log. */
  readonly positions: number
  /** The other checkout. */
  readonly folder: string | undefined
  readonly file: string
  /** Whether the tables go to the file: not what says little without the moment it was measured in. */
  readonly isKept: boolean
  /** Print the needs of fleets instead of measuring. */
  readonly capacity: FleetSize | undefined
}

const number = (about: string) => ({ type: 'string', value: 'N', about }) as const
const OPTIONS = {
  short: { type: 'boolean', about: 'seconds instead of minutes, for a first look' },
  rounds: number(
    'how often everything is measured; the median counts (default 5, console 3, against 16, with --short 1)',
  ),
  seconds: number('duration of one window of load (default 3, with --short 0.7)'),
  devices: number(
    'submit: how many devices report in turn (default 20000); each has reported before, except in the lines ' +
      'that say first reports. With --capacity: the size of the fleet',
  ),
  positions: number('webhooks: how many positions are sent (default 1000000, with --short 20000)'),
  minutes: number(
    'console: how long the heap is watched (default 1; the bound is for 10); soak: how long the load lasts (default 60)',
  ),
  rate: number('soak: reports per second (default 150)'),
  json: {
    type: 'string',
    value: 'FILE',
    about:
      'the file of the result; tables that are not measured now stay in it (default .cache/bench.json)',
  },
  capacity: {
    type: 'boolean',
    about:
      'prints what a fleet needs, by default 10^4, 10^6 and 10^8 devices, from a result (default bench/result.json)',
  },
  interval: number('with it: seconds between two reports of a device (default 10)'),
  retention: number('with it: RETENTION_DAYS (default 30)'),
} as const

const line = commandLine({
  begin: `Measures the service on this machine and prints tables. Linux only.

  npm run bench -- [PART …] [--short] [--rounds N] [--seconds N] [--devices N] [--positions N] [--json FILE]
  npm run bench -- against FOLDER [--rounds N]
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
      'reading SQLite with 10^5 and 10^7 records, of 10^3 and 10^6 devices: half an hour, 16 GB',
    webhooks: 'all positions of a log through one webhook, in batches of 500, beside a consumer',
    '  webhooks-embedded': '  from the embedded log',
    '  webhooks-kafka': '  from Kafka',
    places: 'the names of places, and their memory: seconds',
    console: 'the console in headless Chromium, with 10 000 devices and 200 reports a second',
    soak: 'a steady load with geofences, rules and subscriptions, after which nothing may be missing',
    against: 'the embedded services of this checkout and of the one in FOLDER in turn: A B B A',
  },
  options: OPTIONS,
  end: `Kafka, the schema registry and a MongoDB server are started as for the tests. Ends with code 1 if an
acknowledged report is not stored, or a page of the console threw: then the figures are void.`,
})
export const HELP = line.help

/** @throws {UsageError} */
export function parseOptions(args: readonly string[]): Options | 'help' {
  return line.parse(args, optionsOf)
}

function optionsOf(values: OptionValues<typeof OPTIONS>, operands: readonly string[]): Options {
  const short = values.short === true
  const isCapacity = values.capacity === true
  if (isCapacity) {
    if (operands.length > 0) throw new UsageError('--capacity measures nothing: leave PART out')
    const unfitting = ['short', 'rounds', 'seconds', 'positions', 'minutes', 'rate']
    refuseOptions(values, unfitting, 'cannot be given with --capacity')
  } else refuseOptions(values, ['interval', 'retention'], 'needs --capacity')
  const { names, folder } = namesIn(operands)
  const parts = new Set(names.flatMap(partsOf))
  const rounds = parts.has('against') ? 16 : parts.has('console') ? 3 : 5
  const minutes = short ? 0.1 : parts.has('soak') ? 60 : 1
  const whole = (name: 'rounds' | 'positions' | 'rate' | 'retention', fallback: number) =>
    numberOption(values, name, { fallback, min: 1, max: 1e8, whole: true })
  const decimal = (name: 'seconds' | 'minutes' | 'interval', fallback: number) =>
    numberOption(values, name, { fallback, min: 0.01, max: 86_400 })
  const unset = { fallback: undefined, min: 1, max: 1e9, whole: true }
  const devices = numberOption(values, 'devices', unset)
  return {
    parts,
    folder,
    short,
    devices,
    rounds: whole('rounds', short ? 1 : rounds),
    seconds: decimal('seconds', short ? 0.7 : 3),
    minutes: decimal('minutes', minutes),
    rate: whole('rate', 150),
    positions: whole('positions', short ? 20_000 : 1_000_000),
    file: values.json ?? (isCapacity ? 'bench/result.json' : '.cache/bench.json'),
    isKept: !parts.has('against') && !parts.has('soak'),
    capacity: isCapacity
      ? {
          devices,
          intervalSeconds: decimal('interval', 10),
          retentionDays: whole('retention', 30),
        }
      : undefined,
  }
}

function namesIn(operands: readonly string[]) {
  if (operands.length === 0) return { names: DEFAULT, folder: undefined }
  if (operands[0] !== 'against') return { names: operands, folder: undefined }
  if (operands.length === 2) return { names: ['against'], folder: operands[1] }
  throw new UsageError('name the other checkout, and no other part: see --help')
}

function partsOf(name: string): readonly PartName[] {
  const group = Object.entries(GROUPS).find(([title]) => title === name)?.[1]
  const part = [...Object.values(GROUPS).flat(), ...SINGLE].find((one) => one === name)
  if (group === undefined && part === undefined) {
    throw new UsageError(`there is no part "${name}": --help lists them`)
  }
  return group ?? (part === undefined ? [] : [part])
}
