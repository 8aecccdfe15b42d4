import { csvRows } from './csv-rows.ts'
import { LINES } from './lines.ts'
import type { Format } from './format.ts'
import { jsonIn, ownPoint } from './own-fields.ts'

/** Our own export, and files with columns of the same names. */
export const csv: Format = {
  name: 'csv',
  title: 'CSV of this service',
  places: 'line',
  each: LINES,
  recognises(head) {
    const header = head.split(/\r?\n/, 1)[0]?.replaceAll('"', '').split(',') ?? []
    return ['latitude', 'longitude', 'timestamp'].every((name) => header.includes(name))
  },

  async *read(text) {
    for await (const { header, rows } of csvRows(text)) {
      yield rows.map(({ line: place, cells }) => {
        const { attributes = '', ...fields } = Object.fromEntries(
          header.map((name, column) => [name, withoutProtection(cells[column] ?? '')]),
        )
        const point = ownPoint({ ...fields, attributes: jsonIn(attributes) })
        return { kind: 'point', place, point } as const
      })
    }
  },
}

/** Takes off the apostrophes with which our export protects texts that look like formulas. */
function withoutProtection(cell: string): string {
  return cell.replace(/(^|;)'(?='*[=+\-@\t\r＝＋－＠])/g, '$1')
}
