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

export type FigureBounds = Pick<Figure, 'name' | 'must' | 'wanted'> & {
  readonly unit?: Figure['unit']
  /** If set, larger is better; otherwise smaller is. */
  readonly large?: true
  readonly title: string
  readonly column: string
  readonly row: readonly string[]
  /** The row whose value divides that of `row`. */
  readonly dividedBy?: readonly string[]
}

const SUBMIT = { title: 'Taking reports', column: '÷ bare' }
const SENDERS = { title: 'Reports of apps', column: '÷ native', must: 1.3, wanted: 1.1 }
const PROJECTOR = { title: 'Projecting a full log', column: '÷ bare', must: 0.7, wanted: 0.9 }
const FACTS = { title: 'Deciding facts', column: '÷ without' }
const READS = {
  title: 'Reading SQLite',
  row: ['10000000', '1000000'],
  dividedBy: ['100000', '1000'],
}
const FORMATS = ['Kafka, JSON', 'Kafka, Avro'] as const

const BOUNDS: readonly FigureBounds[] = [
  {
    name: 'embedded, whole process, single submits, 64 connections ÷ bare',
    ...SUBMIT,
    row: ['embedded', '64 connections'],
    must: 4.5,
    wanted: 3.2,
  },
  ...FORMATS.map((format) => ({
    name: `ingest API on ${format}, single submits, 64 connections ÷ bare`,
    ...SUBMIT,
    row: [format, '64 connections'],
    must: 4.5,
    wanted: 3,
  })),
  {
    name: 'embedded, batches of 100, per report ÷ bare request',
    ...SUBMIT,
    row: ['embedded', 'batches of 100'],
    must: 1.8,
    wanted: 1.2,
  },
  ...FORMATS.map((format) => ({
    name: `ingest API on ${format}, batches of 100, per report ÷ bare request`,
    ...SUBMIT,
    row: [format, 'batches of 100'],
    must: 1,
    wanted: 0.6,
  })),
  { name: 'a report of OsmAnd ÷ a native one', ...SENDERS, row: ['OsmAnd', '1'] },
  {
    name: 'a batch of 1000 of Overland ÷ a native one, per report',
    ...SENDERS,
    row: ['Overland', '1000'],
  },
  ...['SQLite', 'MongoDB'].map((store) => ({
    name: `projector into ${store} ÷ bare driver loop`,
    ...PROJECTOR,
    row: [store],
    large: true as const,
  })),
  ...['10 s', '2 h'].flatMap((every) => [
    {
      name: `projecting with facts ÷ without, a report every ${every}`,
      ...FACTS,
      row: [every, '0', '10000'],
      must: 1.25,
      wanted: 1.15,
    },
    {
      name: `the same with 10 000 geofences, a report every ${every}`,
      ...FACTS,
      row: [every, '10000', '10000'],
      must: 1.6,
      wanted: 1.4,
    },
  ]),
  {
    name: 'last position of one device among 10^6 ÷ among 10^3',
    ...READS,
    column: 'last position µs',
    must: 2,
    wanted: 1.3,
  },
  ...['newest page', 'page in the middle'].map((page) => ({
    name: `${page} of a history of 10^6 records ÷ of 10^4`,
    ...READS,
    column: `${page} µs`,
    must: 2,
    wanted: 1.3,
  })),
  {
    name: 'resident memory of the ingest API on Kafka after 10^6 devices',
    title: 'Taking reports of 1000000 devices',
    row: ['Kafka, JSON', '64 connections'],
    column: 'memory MB',
    unit: 'MB',
    must: 300,
    wanted: 200,
  },
  {
    name: '200 → readable, p99, 200 reports/s evenly spread',
    title: 'From the 200 to readable',
    column: 'p99 ms',
    row: ['embedded'],
    unit: 'ms',
    must: 50,
    wanted: 20,
  },
  {
    name: '200 → fact readable ÷ 200 → position readable, p99',
    title: 'From the 200 to readable',
    column: 'fact ÷ position',
    row: ['embedded'],
    must: 2,
    wanted: 1.5,
  },
]

/** The figures, each with its verdict. */
export function figures(result: Result, bounds: readonly FigureBounds[] = BOUNDS): Figure[] {
  return bounds.map(({ title, column, row, dividedBy, large, unit = '', ...figure }) => {
    const of = (texts: readonly string[]) => valueIn(result, { title, row: texts, column })
    const [dividend, divisor] = [of(row), dividedBy === undefined ? 1 : of(dividedBy)]
    const value = dividend === undefined || divisor === undefined ? undefined : dividend / divisor
    const measured = { ...figure, unit, ...(value !== undefined && { value }) }
    const { faults = [] } = result.find((part) => part.title === title) ?? {}
    return { ...measured, verdict: verdict(measured, { large, faults }) }
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
