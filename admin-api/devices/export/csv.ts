import { stringify } from 'csv-stringify/sync'
import { OPTIONAL_FIELDS } from '../../../schemas/report-fields.ts'
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
 * RFC 4180 with a header row. Spreadsheets run cells that look like formulas, so device-controlled
 * text that begins like one, or like one with apostrophes before it, is prefixed with an apostrophe.
 * Where the separator is a semicolon, as in many countries, a new cell also begins after each semicolon;
 * in the JSON of attributes each one is an escape.
 */
export const csv: ExportFormat = {
  mediaType: 'text/csv; charset=utf-8',
  extension: 'csv',
  schema: {
    title: 'RecordRows',
    type: 'string',
    description: `RFC 4180 with a header row: ${COLUMNS.join(', ')}. A text that begins with =, +, -, @, a tab or a line break has an apostrophe before it, also after a semicolon; attributes are JSON; name and labels are those that the device has now, the labels joined by commas`,
  },

  async *write(pages, device) {
    yield rows([[...COLUMNS]])
    const { name } = device
    const labels = labelsText(device)
    for await (const page of pages) {
      yield rows(page.map((record) => cells({ ...recordView(record), name, labels })))
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
  return COLUMNS.map((name) => withoutFormulas(row[name]))
}

function withoutFormulas(cell: Cell): Cell {
  return typeof cell === 'string' ? cell.replace(FORMULA, "$1'") : cell
}

const FORMULA = /(^|;)(?='*[=+\-@\t\r＝＋－＠])/g

function rows(cells: Cell[][]): string {
  return stringify(cells, { record_delimiter: 'windows', quote_record_delimiter: true })
}
