import { csvLines } from './csv-lines.ts'
import {
  convertDistance,
  distanceText,
  numberText,
  convertSpeed,
  speedText,
  type Units,
} from './measures.ts'
import type { ReportRow } from './report-rows.ts'
import { date, time } from './times.ts'

export type ReportReader = {
  readonly units: Units
  readonly zone: string
  /** Words for a moment. */
  readonly moment: (ms: number) => string
}

type ReportColumn = {
  readonly id: string
  readonly title: string
  readonly value: (row: ReportRow) => number | null
  readonly text: (value: number, reader: ReportReader) => string
  /** The end of the title, and the value, in a file. */
  readonly unit?: (reader: ReportReader) => string
  readonly cell?: (value: number, reader: ReportReader) => number | string
  /** Sorts ascending by default. */
  readonly isTime?: true
}

const count = { text: (number: number, { units }: ReportReader) => numberText(number, units) }
const moment = {
  text: (ms: number, reader: ReportReader) => reader.moment(ms),
  unit: ({ zone }: ReportReader) => ` (${zone})`,
  cell: (ms: number, { zone }: ReportReader) => `${date(ms, zone)} ${time(ms, zone)}`,
  isTime: true,
} as const

export const REPORT_COLUMNS: readonly [ReportColumn, ...ReportColumn[]] = [
  {
    id: 'distance',
    title: 'Distance',
    value: (row) => row.distanceMetres,
    text: (metres, { units }) => distanceText(metres, units) ?? '',
    unit: ({ units }) => (units.length === 'feet' ? ', mi' : ', km'),
    cell: (metres, { units }) => roundNumber(convertDistance(units.length, metres)),
  },
  {
    id: 'driving',
    title: 'Driving',
    value: (row) => row.drivingSeconds / 3_600,
    text: (hours, { units }) => `${numberText(hours, units, 1)} h`,
    unit: () => ', h',
    cell: roundNumber,
  },
  { ...count, id: 'stops', title: 'Stops', value: (row) => row.stops },
  {
    id: 'speed',
    title: 'Top speed',
    value: (row) => row.maxSpeed,
    text: (speed, { units }) => speedText(speed, units) ?? '',
    unit: ({ units }) => `, ${units.speed}`,
    cell: (speed, { units }) => roundNumber(convertSpeed(units.speed, speed)),
  },
  { ...moment, id: 'start', title: 'First start', value: ({ firstStart }) => timeOf(firstStart) },
  { ...moment, id: 'end', title: 'Last end', value: ({ lastEnd }) => timeOf(lastEnd) },
  { ...count, id: 'raised', title: 'Rules raised', value: (row) => row.raised },
  { ...count, id: 'visits', title: 'Visits', value: (row) => row.visits },
]

/** The orders in which rows can be shown, besides the first column's. */
export const REPORT_ORDERS: readonly (readonly [string, string])[] = [
  ...REPORT_COLUMNS.flatMap(({ id, title, isTime }) => {
    const [first, last] = isTime === true ? ['earliest', 'latest'] : ['most', 'least']
    return [
      [id, `${title}, ${first} first`] as const,
      [`-${id}`, `${title}, ${last} first`] as const,
    ]
  }).slice(1),
  ['name', 'By name'],
]

const byName = new Intl.Collator('en', { numeric: true })

/**
 * @param order the id of a column, the greatest or earliest first; `-` before it reverses it.
 * Otherwise rows are in the order of their names. Those without the value come last.
 */
export function sortReport(rows: readonly ReportRow[], order: string): readonly ReportRow[] {
  const column = REPORT_COLUMNS.find(({ id }) => id === order.replace('-', ''))
  const sign = order.startsWith('-') === (column?.isTime === true) ? -1 : 1
  const valueOf = (row: ReportRow) => sign * (column?.value(row) ?? sign * Infinity)
  return [...rows].sort((a, b) => {
    const [one, other] = [valueOf(a), valueOf(b)]
    if (one !== other) return one < other ? -1 : 1
    return byName.compare(a.name ?? '', b.name ?? '') || (a.from < b.from ? -1 : 1)
  })
}

/** A file for people, in their units and zone. */
export function reportCsv(rows: readonly ReportRow[], reader: ReportReader): string {
  const days = ({ from, to }: ReportRow) =>
    [Date.parse(from), Date.parse(to) - 1].map((ms) => date(ms, reader.zone))
  const head = REPORT_COLUMNS.map(({ title, unit }) => title + (unit?.(reader) ?? ''))
  const lines = rows.map((row) => {
    const values = REPORT_COLUMNS.map(({ value, cell = (number) => number }) => {
      const number = value(row)
      return number === null ? undefined : cell(number, reader)
    })
    return [row.name, row.deviceId, ...days(row), ...values]
  })
  return csvLines([['Name', 'Device id', 'From', 'To', ...head], ...lines])
}

function timeOf(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso)
}

function roundNumber(number: number): number {
  return Math.round(number * 100) / 100
}
