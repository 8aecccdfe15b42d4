import { readTraccarForward } from '../senders/traccar-forward.ts'
import { typeTexts } from '../typed-attributes.ts'
import { parseObject } from '../values.ts'
import { csvRows, readHeader, type CsvRow } from './csv.ts'
import { LINES, type FileItem, type Format } from './format.ts'
import { jsonElements } from './json-elements.ts'
import { readAsApp } from './read-as-app.ts'

/** All other columns are attributes. */
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

/**
 * Traccar's report of a route as CSV. It quotes nothing, so an address may have any number of
 * commas.
 */
export const traccarCsv: Format = {
  name: 'traccar-csv',
  title: 'positions of Traccar (CSV)',
  places: 'line',
  each: LINES,
  numbersDevices: true,
  recognises(head) {
    const header = readHeader(head).split(',')
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
    // Renames the fields to our names, which have known types.
    if (item.kind !== 'point') return item
    return {
      ...item,
      point: { ...item.point, attributes: typeTexts(item.point.attributes ?? {}) },
    }
  })
}

/** A list of positions of Traccar's API (`GET /api/positions?deviceId=&from=&to=`). */
export const traccarJson: Format = {
  name: 'traccar-json',
  title: 'positions of Traccar (JSON)',
  places: 'element',
  each: { text: '"fixTime"', what: 'positions' },
  numbersDevices: true,
  recognises: (head) =>
    /^\[\s*\{/.test(head) && /"fixTime"\s*:/.test(head) && /"deviceId"\s*:/.test(head),

  async *read(text) {
    for await (const elements of jsonElements(text, ['$.*'])) {
      yield elements.flatMap(({ number, value }) =>
        traccarPosition(parseObject(value) ?? {}, number),
      )
    }
  },
}

/** A position, read as Traccar itself would forward it, under the internal number of its device. */
function traccarPosition(position: Readonly<Record<string, unknown>>, place: number): FileItem[] {
  const forwarded = { position, device: { uniqueId: position['deviceId'] } }
  return readAsApp(({ body }) => readTraccarForward(body), JSON.stringify(forwarded), { place })
}
