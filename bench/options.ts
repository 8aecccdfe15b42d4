import {
  commandLine,
  refuseOptions,
  UsageError,
  type OptionValues,
  numberOption,
} from '../runtime/process/command-line.ts'
import type { FleetSize } from './capacity.ts'

const GROUPS = { submit: ['embedded', 'kafka'], projector: ['sqlite', 'mongodb'] } as const
const SINGLE = ['readable', 'places', 'console', 'soak', 'against'] as const
const DEFAULT = ['submit', 'readable', 'projector']

export type PartName = (typeof GROUPS)[keyof typeof GROUPS][number] | (typeof SINGLE)[number]

export type Options = ReturnType<typeof optionsOf>

const number = (about: string) => ({ type: 'string', value: 'N', about }) as const
const OPTIONS = {
  short: { type: 'boolean', about: 'seconds instead of minutes, for a first look' },
  rounds: number(
    'how often everything is measured; the median counts (default 5, console 3, against 16, with --short 1)',
  ),
  seconds: number('duration of one window of load (default 3, with --short 0.7)'),
  devices: number(
    'submit: how many devices report in rotation (default 20000); each has reported before, except in the lines ' +
      'that say first reports. With --capacity: the size of the fleet',
  ),
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

  npm run bench -- [PART …] [--short] [--rounds N] [--seconds N] [--devices N] [--json FILE]
  npm run bench -- against FOLDER [--rounds N]
  npm run bench -- --capacity [--devices N] [--interval N] [--retention N] [--json FILE]

Without PART: submit readable projector`,
  operands: {
    submit: 'taking reports: embedded and kafka',
    '  embedded': '  everything in one process',
    '  kafka': '  the ingest API on Kafka, JSON and Avro',
    readable: 'how soon a report can be read after its 200, embedded',
    projector: 'projecting a full log, with deciding facts and without: sqlite and mongodb',
    '  sqlite': '  from the embedded log into SQLite',
    '  mongodb': '  from Kafka into MongoDB',
    places: 'the names of places, and their memory: seconds',
    console: 'the console in headless Chromium, with 10 000 devices and 200 reports a second',
    soak: 'a steady load with geofences, rules and subscriptions, after which nothing may be missing',
    against: 'the embedded services of this checkout and of the one in FOLDER alternately: A B B A',
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

function optionsOf(values: OptionValues<typeof OPTIONS>, operands: readonly string[]) {
  const short = values.short === true
  const isCapacity = values.capacity === true
  if (isCapacity) {
    if (operands.length > 0) throw new UsageError('--capacity measures nothing: leave PART out')
    const unfitting = ['short', 'rounds', 'seconds', 'minutes', 'rate']
    refuseOptions(values, unfitting, 'cannot be given with --capacity')
  } else refuseOptions(values, ['interval', 'retention'], 'needs --capacity')
  const [first, folder = '', ...more] = operands
  const isPair = first === 'against' && folder !== '' && more.length === 0
  const names = isPair ? ['against'] : operands.length === 0 ? DEFAULT : operands
  if (!isPair && names.includes('against')) {
    throw new UsageError('name the other checkout, and no other part: see --help')
  }
  const parts = new Set(names.flatMap(partsOf))
  const rounds = parts.has('against') ? 16 : parts.has('console') ? 3 : 5
  const minutes = short ? 0.1 : parts.has('soak') ? 60 : 1
  const whole = <Fallback>(name: 'rounds' | 'rate' | 'retention' | 'devices', fallback: Fallback) =>
    numberOption(values, name, { fallback, min: 1, max: 1e9, whole: true })
  const decimal = (name: 'seconds' | 'minutes' | 'interval', fallback: number) =>
    numberOption(values, name, { fallback, min: 0.01, max: 86_400 })
  const devices = whole('devices', undefined)
  const fleet: FleetSize = {
    devices,
    intervalSeconds: decimal('interval', 10),
    retentionDays: whole('retention', 30),
  }
  return {
    parts,
    /** The other checkout. */
    folder,
    short,
    /** Undefined: enough that each stays far below its limit. */
    devices,
    rounds: whole('rounds', short ? 1 : rounds),
    seconds: decimal('seconds', short ? 0.7 : 3),
    minutes: decimal('minutes', minutes),
    rate: whole('rate', 150),
    file: values.json ?? (isCapacity ? 'bench/result.json' : '.cache/bench.json'),
    /**
     * Whether the tables go to the file: not tables that mean little outside the moment of
     * measurement.
     */
    isKept: !parts.has('against') && !parts.has('soak'),
    /** Print the needs of fleets instead of measuring. */
    capacity: isCapacity ? fleet : undefined,
  }
}

function partsOf(name: string): readonly PartName[] {
  const group = Object.entries(GROUPS).find(([title]) => title === name)?.[1]
  const part = [...Object.values(GROUPS).flat(), ...SINGLE].filter((one) => one === name)
  if (group === undefined && part.length === 0) {
    throw new UsageError(`there is no part "${name}": --help lists them`)
  }
  return group ?? part
}
