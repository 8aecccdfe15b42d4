import { valueIn, type Result } from './part.ts'

/** A figure with its bounds. */
export type Figure = {
  readonly name: string
  /** Absent: not measured. */
  readonly value?: number
  readonly unit: '' | 'ms' | 'MB' | 'kB' | '%'
  readonly must: number
  readonly wanted: number
  readonly verdict: 'as wanted' | 'good enough' | 'MISSED' | 'not measured' | 'void'
}

/** A value of a table, with its bounds: `must`, then `wanted`. */
type Bounded = {
  readonly title: string
  readonly column: string
  readonly row: readonly string[]
  readonly bounds: readonly [number, number]
  readonly unit?: Figure['unit']
  /** If set, larger is better; otherwise smaller is. */
  readonly large?: true
  /** The row whose value divides that of `row`. */
  readonly dividedBy?: readonly string[]
}

const SUBMIT = { title: 'Taking reports', column: '÷ bare' }
const SENDERS = { title: 'Reports of apps', column: '÷ native', bounds: [1.3, 1.1] } as const
const PROJECTOR = { title: 'Projecting a full log', column: '÷ bare', large: true } as const
const FACTS = { title: 'Deciding facts', column: '÷ without' }
const READABLE = { title: 'From the 200 to readable', row: ['embedded'] }
const READS = {
  title: 'Reading SQLite',
  row: ['10000000', '1000000'],
  dividedBy: ['100000', '1000'],
  bounds: [2, 1.3],
} as const

const single = (service: string, ...bounds: [number, number]): Bounded => {
  return { ...SUBMIT, row: [service, '64 connections, known devices'], bounds }
}
const batches = (service: string, ...bounds: [number, number]): Bounded => {
  return { ...SUBMIT, row: [service, 'batches of 100'], bounds }
}
const facts = (every: string, geofences: string, ...bounds: [number, number]): Bounded => {
  return { ...FACTS, row: [every, geofences, '10000'], bounds }
}
const page = (column: string): Bounded => ({ ...READS, column })
export const CONSOLE_TITLE = 'The console, 10 000 devices, 200 reports/s'
const CONSOLE_BOUNDS = {
  'p95 frame, dragging': { unit: 'ms', bounds: [32, 20] },
  'p95 frame, wheel': { unit: 'ms', bounds: [32, 20] },
  'p95 frame, dragging, streets': { unit: 'ms', bounds: [32, 20] },
  'p95 frame, wheel, streets': { unit: 'ms', bounds: [32, 20] },
  'main thread busy, still': { unit: '%', bounds: [20, 20] },
  'first map': { unit: 'ms', bounds: [1_500, 1_500] },
  'report to dot': { unit: 'ms', bounds: [500, 500] },
  'a day at 1 Hz drawn': { unit: 'ms', bounds: [1_000, 1_000] },
  'JS and CSS, gzip': { unit: 'kB', bounds: [250, 250] },
  'of it for signing in': { unit: 'kB', bounds: [40, 40] },
  'heap, growth while it is watched': { unit: 'MB', bounds: [2, 2] },
  'the same in a hidden tab': { unit: 'MB', bounds: [2, 2] },
} as const

export type ConsoleFigure = keyof typeof CONSOLE_BOUNDS

const BOUNDED: Readonly<Record<string, Bounded>> = {
  'embedded, whole process, single submits, 64 connections ÷ bare': single('embedded', 4.5, 3.2),
  'ingest API on Kafka, JSON, single submits, 64 connections ÷ bare': single('Kafka, JSON', 4.5, 3),
  'ingest API on Kafka, Avro, single submits, 64 connections ÷ bare': single('Kafka, Avro', 4.5, 3),
  'embedded, batches of 100, per report ÷ bare request': batches('embedded', 1.8, 1.2),
  'ingest API on Kafka, JSON, batches of 100, per report ÷ bare request': batches(
    'Kafka, JSON',
    1,
    0.6,
  ),
  'ingest API on Kafka, Avro, batches of 100, per report ÷ bare request': batches(
    'Kafka, Avro',
    1,
    0.6,
  ),
  'a report of OsmAnd ÷ a native one': { ...SENDERS, row: ['OsmAnd', '1'] },
  'a batch of 1000 of Overland ÷ a native one, per report': {
    ...SENDERS,
    row: ['Overland', '1000'],
  },
  'projector into SQLite ÷ bare driver loop': { ...PROJECTOR, row: ['SQLite'], bounds: [0.7, 0.9] },
  'projector into MongoDB ÷ bare driver loop': {
    ...PROJECTOR,
    row: ['MongoDB'],
    bounds: [0.7, 0.9],
  },
  'projecting with facts ÷ without, a report every 10 s': facts('10 s', '0', 1.25, 1.15),
  'the same with 10 000 geofences, a report every 10 s': facts('10 s', '10000', 1.6, 1.4),
  'projecting with facts ÷ without, a report every 2 h': facts('2 h', '0', 1.25, 1.15),
  'the same with 10 000 geofences, a report every 2 h': facts('2 h', '10000', 1.6, 1.4),
  'last position of one device among 10^6 ÷ among 10^3': page('last position µs'),
  'newest page of a history of 10^6 records ÷ of 10^4': page('newest page µs'),
  'page in the middle of a history of 10^6 records ÷ of 10^4': page('page in the middle µs'),
  'resident memory of the ingest API on Kafka after 10^6 devices': {
    ...single('Kafka, JSON', 300, 200),
    title: 'Taking reports of 1000000 devices',
    column: 'memory MB',
    unit: 'MB',
  },
  '200 → readable, p99, 200 reports/s evenly spread': {
    ...READABLE,
    column: 'p99 ms',
    unit: 'ms',
    bounds: [50, 20],
  },
  '200 → fact readable ÷ 200 → position readable, p99': {
    ...READABLE,
    column: 'fact ÷ position',
    bounds: [2, 1.5],
  },
  ...Object.fromEntries(
    Object.entries(CONSOLE_BOUNDS).map(([name, one]): [string, Bounded] => {
      return [name, { title: CONSOLE_TITLE, row: [name], column: 'value', ...one }]
    }),
  ),
}

/** The figures of the tables that there are, each with its verdict. */
export function figures(result: Result): Figure[] {
  return Object.entries(BOUNDED).flatMap(([name, bounded]): Figure[] => {
    const { title, column, row, dividedBy, large, unit = '', bounds } = bounded
    const part = result.find((one) => one.title === title)
    if (part === undefined) return []
    const of = (texts: readonly string[]) => valueIn(result, { title, row: texts, column })
    const [dividend, divisor] = [of(row), dividedBy === undefined ? 1 : of(dividedBy)]
    const value = dividend === undefined || divisor === undefined ? undefined : dividend / divisor
    const [must, wanted] = bounds
    const measured = { name, unit, must, wanted, ...(value !== undefined && { value }) }
    return [{ ...measured, verdict: verdict(measured, { large, faults: part.faults }) }]
  })
}

function verdict(
  { value, must, wanted }: Pick<Figure, 'value' | 'must' | 'wanted'>,
  { large, faults }: { large?: true | undefined; faults: readonly string[] },
): Figure['verdict'] {
  if (value === undefined) return 'not measured'
  if (faults.length > 0) return 'void'
  const keeps = (bound: number) => (large ? value >= bound : value <= bound)
  if (keeps(wanted)) return 'as wanted'
  return keeps(must) ? 'good enough' : 'MISSED'
}
