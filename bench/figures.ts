import { valueIn, type Result } from './part.ts'

/** A figure with its bounds. */
export type Figure = {
  readonly name: string
  /** Absent: not measured. */
  readonly value?: number
  readonly unit: '' | 'ms' | 'MB' | '%'
  readonly must: number
  readonly wanted: number
  readonly verdict: 'as wanted' | 'good enough' | 'MISSED' | 'not measured' | 'void'
}

/** A value of a table, with its bounds: `must`, then `wanted`. Smaller is better. */
type Bounded = {
  readonly title: string
  readonly column: string
  readonly row: readonly string[]
  readonly bounds: readonly [number, number]
  readonly unit?: Figure['unit']
}

const submit = (service: string, load: string, ...bounds: [number, number]): Bounded => {
  return { title: 'Taking reports', column: '÷ bare', row: [service, load], bounds }
}
const SINGLE = '64 connections, known devices'
const FIRST = '64 connections, first reports'
const BATCHES = 'batches of 100'
const facts = (decided: string, ...bounds: [number, number]): Bounded => {
  const row = ['SQLite', decided]
  return { title: 'Projecting a full log', column: '÷ without', row, bounds }
}
const readable = (column: string, ...bounds: [number, number]): Bounded => {
  return { title: 'From the 200 to readable', row: ['embedded'], column, bounds }
}
export const CONSOLE_TITLE = 'The console, 10 000 devices, 200 reports/s'
const CONSOLE_BOUNDS = {
  'p95 frame, dragging': { unit: 'ms', bounds: [32, 20] },
  'p95 frame, wheel': { unit: 'ms', bounds: [32, 20] },
  'main thread busy, still': { unit: '%', bounds: [20, 20] },
  'first map': { unit: 'ms', bounds: [1_500, 1_500] },
  'report to dot': { unit: 'ms', bounds: [500, 500] },
  'a day at 1 Hz drawn': { unit: 'ms', bounds: [1_000, 1_000] },
  'heap, growth while it is watched': { unit: 'MB', bounds: [2, 2] },
  'the same in a hidden tab': { unit: 'MB', bounds: [2, 2] },
} as const

export type ConsoleFigure = keyof typeof CONSOLE_BOUNDS

const BOUNDED: Readonly<Record<string, Bounded>> = {
  'embedded, whole process, single submits ÷ bare': submit('embedded', SINGLE, 4.5, 2),
  'ingest API on Kafka, JSON, single submits ÷ bare': submit('Kafka, JSON', SINGLE, 4.5, 1.7),
  'ingest API on Kafka, Avro, single submits ÷ bare': submit('Kafka, Avro', SINGLE, 4.5, 1.7),
  'embedded, batches of 100, per report ÷ bare': submit('embedded', BATCHES, 1.8, 0.5),
  'ingest API on Kafka, JSON, batches of 100 ÷ bare': submit('Kafka, JSON', BATCHES, 1, 0.25),
  'ingest API on Kafka, Avro, batches of 100 ÷ bare': submit('Kafka, Avro', BATCHES, 1, 0.25),
  'embedded, first reports of a new fleet ÷ bare': submit('embedded', FIRST, 10, 5),
  'ingest API on Kafka, JSON, first reports ÷ bare': submit('Kafka, JSON', FIRST, 10, 5),
  'projecting with facts ÷ without': facts('decided', 1.25, 1.15),
  'the same with 10 000 geofences': facts('with 10 000 geofences', 1.6, 1.4),
  '200 → readable, p99, 200 reports/s evenly spread': { ...readable('p99 ms', 50, 20), unit: 'ms' },
  '200 → fact readable ÷ 200 → position readable, p99': readable('fact ÷ position', 2, 1.5),
  ...Object.fromEntries(
    Object.entries(CONSOLE_BOUNDS).map(([name, one]): [string, Bounded] => {
      return [name, { title: CONSOLE_TITLE, row: [name], column: 'value', ...one }]
    }),
  ),
}

/** The figures of the existing tables, each with its verdict. */
export function figures(result: Result): Figure[] {
  return Object.entries(BOUNDED).flatMap(([name, bounded]): Figure[] => {
    const { title, unit = '', bounds } = bounded
    const part = result.find((one) => one.title === title)
    if (part === undefined) return []
    const value = valueIn(result, bounded)
    const [must, wanted] = bounds
    const figure = { name, unit, must, wanted, ...(value !== undefined && { value }) }
    return [{ ...figure, verdict: verdict(figure, part.faults) }]
  })
}

function verdict(
  { value, must, wanted }: Pick<Figure, 'value' | 'must' | 'wanted'>,
  faults: readonly string[],
): Figure['verdict'] {
  if (value === undefined) return 'not measured'
  if (faults.length > 0) return 'void'
  if (value <= wanted) return 'as wanted'
  return value <= must ? 'good enough' : 'MISSED'
}
