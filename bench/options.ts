import { parseArguments, UsageError } from '../runtime/arguments.ts'

export const PARTS = [
  'embedded',
  'kafka',
  'senders',
  'readable',
  'sqlite',
  'mongodb',
  'growth',
  'history',
] as const
export type PartName = (typeof PARTS)[number]

export type Options = {
  readonly parts: ReadonlySet<PartName>
  readonly short: boolean
  readonly rounds: number
  /** Of one window. */
  readonly seconds: number
  readonly file: string
}

export const HELP = `Measures the service on this machine and prints a table. Linux only.

  npm run bench -- [PART …] [--short] [--rounds N] [--seconds N] [--json FILE]

Parts (default: submit senders readable projector)
  submit       how reports are taken: embedded and kafka
  embedded       everything in one process
  kafka          the ingest API on Kafka, JSON and Avro
  senders      what reports of OsmAnd and Overland cost beside ours, ingest API on Kafka
  readable     how soon a report can be read after its 200, embedded
  projector    how fast a log is projected: sqlite and mongodb
  sqlite         from the embedded log into SQLite
  mongodb        from Kafka into MongoDB
  growth       10^3, 10^5 and 10^6 devices: latency, memory, projection; about ten minutes
  history      10^5 and 10^7 records, a tenth of them of one device; half an hour, 10 GB of disk

  --short      seconds instead of minutes, for a first look
  --rounds N   how often everything is measured; the median counts (default 5, with --short 1)
  --seconds N  how long one window of load is (default 3, with --short 0.7)
  --json FILE  where the result goes; parts that are not measured now stay there as they are
               (default .cache/bench.json)

Kafka, the schema registry and a MongoDB server are started as for the tests. Ends with code 1 if
not every acknowledged report is stored: then the figures are void.
`

const GROUPS: Readonly<Record<string, readonly PartName[]>> = {
  submit: ['embedded', 'kafka'],
  projector: ['sqlite', 'mongodb'],
}
const DEFAULT = ['submit', 'senders', 'readable', 'projector']

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  short: { type: 'boolean' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  json: { type: 'string' },
} as const

/** @throws {UsageError} */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const { values, positionals } = parseArguments(args, { allowPositionals: true, options: OPTIONS })
  if (values.help === true) return 'help'
  const short = values.short === true
  const names = positionals.length === 0 ? DEFAULT : positionals
  return {
    parts: new Set(names.flatMap(partsOf)),
    short,
    rounds: values.rounds === undefined ? (short ? 1 : 5) : roundsOf(values.rounds),
    seconds: values.seconds === undefined ? (short ? 0.7 : 3) : secondsOf(values.seconds),
    file: values.json ?? '.cache/bench.json',
  }
}

function partsOf(name: string): readonly PartName[] {
  const parts = GROUPS[name] ?? PARTS.filter((part) => part === name)
  if (parts.length > 0) return parts
  throw new UsageError(`there is no part "${name}": --help lists them`)
}

function roundsOf(text: string): number {
  const rounds = Number(text)
  if (Number.isInteger(rounds) && rounds >= 1 && rounds <= 100) return rounds
  throw new UsageError(`--rounds must be a whole number from 1 to 100, not "${text}"`)
}

function secondsOf(text: string): number {
  const seconds = Number(text)
  if (seconds >= 0.1 && seconds <= 60) return seconds
  throw new UsageError(`--seconds must be a number from 0.1 to 60, not "${text}"`)
}
