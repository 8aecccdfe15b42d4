import { typedTexts } from '../sent-attributes.ts'
import { csvRows, type CsvRow } from './csv-rows.ts'
import { LINES } from './lines.ts'
import type { FileItem, Format } from './format.ts'
import { traccarPosition } from './traccar-json.ts'

/** All columns but these are attributes. */
const POSITION = [
  ...[
    'id',
    'deviceId',
    'protocol',
    'serverTime',
    'deviceTime',
    'fixTime',
    'outdated',
    'valid',
    'latitude',
  ],
  ...['longitude', 'altitude', 'speed', 'course', 'address', 'accuracy'],
]

/** Traccar's report of a route as CSV. It quotes nothing, so an address may have any number of commas. */
export const traccarCsv: Format = {
  name: 'traccar-csv',
  title: 'positions of Traccar (CSV)',
  places: 'line',
  each: LINES,
  numbersDevices: true,
  recognises(head) {
    const header = head.split(/\r?\n/, 1)[0]?.split(',') ?? []
    return ['deviceId', 'fixTime', 'latitude', 'longitude'].every((name) => header.includes(name))
  },

  async *read(text) {
    for await (const { header, rows } of csvRows(text)) {
      yield rows.flatMap((row) => itemsOf(header, row))
    }
  },
}

function itemsOf(header: readonly string[], { line, cells }: CsvRow): FileItem[] {
  const fields: Record<string, unknown> = {}
  const attributes: Record<string, unknown> = {}
  const more = Math.max(0, cells.length - header.length)
  const address = header.indexOf('address')
  header.forEach((name, column) => {
    const cell = cells[address !== -1 && column > address ? column + more : column]
    if (cell === undefined || cell === '') return
    if (POSITION.includes(name)) fields[name] = cell
    else attributes[name] = cell
  })
  return traccarPosition({ ...fields, attributes }, line).map((item) => {
    // Under our names, whose types are known.
    if (item.kind !== 'point') return item
    return {
      ...item,
      point: { ...item.point, attributes: typedTexts(item.point.attributes ?? {}) },
    }
  })
}
