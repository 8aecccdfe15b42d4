import { stringify } from 'csv-stringify/sync'
import { guardFormulas } from '../../../schemas/text/csv-formulas.ts'
import { OPTIONAL_FIELDS } from '../../../schemas/report/report-fields.ts'
import { recordView } from '../../http/views.ts'
import { labelsText, type ExportFormat } from './export-format.ts'

const COLUMNS = [
  'recordId',
  'deviceId',
  'latitude',
  'longitude',
  'timestamp',
  'receivedAt',
  ...OPTIONAL_FIELDS,
  'name',
  'labels',
] as const

type Column = (typeof COLUMNS)[number]
type Cell = string | number | undefined

/**
 * RFC 4180 with a header row. In the JSON of attributes each semicolon is escaped, because text
 * after a semicolon may be guarded as a formula.
 */
export const csv: ExportFormat = {
  mediaType: 'text/csv; charset=utf-8',
  extension: 'csv',
  schema: {
    title: 'RecordRows',
    type: 'string',
    description: `RFC 4180 with a header row: ${COLUMNS.join(', ')}. A text that starts with =, +, -, @, a tab or a line break has an apostrophe before it, also after a semicolon; attributes are JSON; name and labels are those that the device has now, the labels joined by commas`,
  },

  async *write(pages, device) {
    yield csvText([[...COLUMNS]])
    const { name } = device
    const labels = labelsText(device)
    for await (const page of pages) {
      yield csvText(page.map((record) => cells({ ...recordView(record), name, labels })))
    }
  },
}

function cells({
  attributes,
  imported,
  ...view
}: ReturnType<typeof recordView> & {
  readonly name: string | undefined
  readonly labels: string
}): Cell[] {
  const row: { readonly [Name in Column]?: Cell } = {
    ...view,
    ...(attributes !== undefined && {
      attributes: JSON.stringify(attributes).replaceAll(';', '\\u003b'),
    }),
    ...(imported === true && { imported: 'true' }),
  }
  return COLUMNS.map((name) => row[name])
}

/** Rows of a file, guarded so that spreadsheets evaluate no text as a formula. */
export function csvText(cells: Cell[][]): string {
  return stringify(
    cells.map((row) => row.map((cell) => (typeof cell === 'string' ? guardFormulas(cell) : cell))),
    { record_delimiter: 'windows', quote_record_delimiter: true },
  )
}
