import { csvRows } from './csv-rows.ts'
import type { Format } from './format.ts'
import { jsonIn, ownPoint } from './own-fields.ts'

/** Our own export, and files with columns of the same names. */
export const csv: Format = {
  name: 'csv',
  title: 'CSV of this service',
  places: 'line',
  recognises(head) {
    const header = head.split(/\r?\n/, 1)[0]?.replaceAll('"', '').split(',') ?? []
    return ['latitude', 'longitude', 'timestamp'].every((name) => header.includes(name))
  },

  async *read(text) {
    for await (const { header, row } of csvRows(text)) {
      const { attributes = '', ...fields } = Object.fromEntries(
        header.map((name, column) => [name, withoutProtection(row.cells[column] ?? '')]),
      )
      const point = ownPoint({ ...fields, attributes: jsonIn(attributes) })
      yield [{ kind: 'point', place: row.line, point }]
    }
  },
}

/** Takes off the apostrophes with which our export protects texts that look like formulas. */
function withoutProtection(cell: string): string {
  return cell.replace(/(^|;)'(?='*[=+\-@\t\r＝＋－＠])/g, '$1')
}
