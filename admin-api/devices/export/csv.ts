import { stringify } from 'csv-stringify/sync'
import { MEASUREMENTS } from '../../../schemas/report-fields.ts'
import { recordView } from '../../http/views.ts'
import type { ExportFormat } from './export-format.ts'

const COLUMNS = [
  'recordId',
  'deviceId',
  'latitude',
  'longitude',
  'timestamp',
  'receivedAt',
  ...MEASUREMENTS,
] as const

/**
 * RFC 4180 with a header row. Spreadsheets run cells that look like formulas, so device-controlled
 * text that begins like one is prefixed with an apostrophe. Where the separator is a semicolon, as
 * in many countries, a new cell also begins after each semicolon.
 */
export const csv: ExportFormat = {
  mediaType: 'text/csv; charset=utf-8',
  extension: 'csv',
  schema: {
    title: 'RecordRows',
    type: 'string',
    description: `RFC 4180 with a header row: ${COLUMNS.join(', ')}. A text that begins with =, +, -, @, a tab or a line break has an apostrophe before it, also after a semicolon`,
  },

  async *write(pages) {
    yield rows([[...COLUMNS]])
    for await (const page of pages) {
      yield rows(
        page.map((record) => {
          const view: Readonly<Record<string, string | number>> = recordView(record)
          return COLUMNS.map((name) => withoutInnerFormulas(view[name]))
        }),
      )
    }
  },
}

function withoutInnerFormulas(cell: string | number | undefined): string | number | undefined {
  return typeof cell === 'string' ? cell.replace(/;(?=[=+\-@\t\r＝＋－＠])/g, ";'") : cell
}

function rows(cells: (string | number | undefined)[][]): string {
  return stringify(cells, {
    record_delimiter: 'windows',
    quote_record_delimiter: true,
    escape_formulas: true,
  })
}
