import { parse } from 'csv-parse'
import { unguardFormulas } from '../../text/csv-formulas.ts'
import {
  UnreadableError,
  type FileItem,
  type Format,
  type Text,
  LINES,
  textWithHead,
} from './format.ts'
import { fieldItems } from './field-items.ts'
import { parseJsonText } from '../values.ts'
import { namePosition, normalizeName } from './named-fields.ts'

const SEPARATORS = [',', ';', '\t', '|'] as const

export type CsvRow = { readonly line: number; readonly cells: readonly string[] }

const LONGEST = 1024 * 1024

/**
 * The rows of a CSV text after its header, without empty ones. Rows may have more or fewer cells
 * than the header; a quote within a cell that is not quoted is an ordinary character.
 * @throws {UnreadableError} if a quoted cell does not end.
 */
export async function* csvRows(
  text: Text,
  { separator = ',' } = {},
): AsyncGenerator<{ header: readonly string[]; rows: readonly CsvRow[] }> {
  let rows: CsvRow[] = []
  let lastLine = 0
  let fault: Error | undefined
  const parser = parse({
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    delimiter: separator,
    max_record_size: LONGEST,
    // Not through the stream, which drops the rows before an error.
    on_record(cells: string[], { lines: line }) {
      lastLine = line
      rows.push({ line, cells })
      return null
    },
  })
  parser.on('error', (error) => (fault = error))
  parser.resume()
  let header: readonly string[] | undefined

  function* read() {
    if (header === undefined && SEP.test(rows[0]?.cells[0] ?? '')) rows.shift()
    header ??= rows.shift()?.cells
    if (header !== undefined && rows.length > 0) yield { header, rows }
    rows = []
    if (fault !== undefined) throw faultOf(fault, lastLine)
  }

  try {
    for await (const chunk of text) {
      await new Promise((resolve) => parser.write(chunk, resolve))
      yield* read()
    }
    const ended = new Promise((resolve) => parser.once('close', resolve))
    parser.end()
    await ended
    yield* read()
  } finally {
    parser.destroy()
  }
}

function faultOf(error: Error, lastLine: number): Error {
  if (!('code' in error && String(error.code).startsWith('CSV_'))) return error
  const isEndless = error.code === 'CSV_QUOTE_NOT_CLOSED' || error.code === 'CSV_MAX_RECORD_SIZE'
  const reason = isEndless ? 'a quoted cell does not end' : error.message
  return new UnreadableError(`it is not valid CSV after line ${lastLine}: ${reason}`)
}

/** Our export, files of GPSLogger and GeoPulse, and files with similarly named columns. */
export const csvFormat: Format = {
  name: 'csv',
  title: 'CSV of this service, GPSLogger and others',
  places: 'line',
  each: LINES,
  recognises: (head) => separatorOf(head) !== undefined,

  async *read(text) {
    // One of the first two lines is the header.
    const { head, whole } = await textWithHead(text, (begin) => /\S.*\n.*\n/.test(begin))
    const separator = separatorOf(head) ?? ','
    for await (const { header, rows } of csvRows(whole, { separator })) {
      const names = header.map(normalizeName)
      // Programs that write decimal commas use another cell separator.
      const hasCommas = separator !== ','
      yield rows.flatMap((row) => itemsOf(names, row, { hasCommas }))
    }
  },
}

function itemsOf(
  names: readonly string[],
  { line: place, cells }: CsvRow,
  { hasCommas }: { hasCommas: boolean },
): FileItem[] {
  const { attributes = '', ...fields } = Object.fromEntries(
    names.map((name, column) => {
      const cell = unguardFormulas(cells[column] ?? '')
      return [name, hasCommas ? cell.replace(DECIMAL_COMMA, '$1.$2') : cell]
    }),
  )
  const all = { ...fields, attributes: parseJsonText(attributes) }
  return fieldItems(all, place, { areTexts: true })
}

const DECIMAL_COMMA = /^([+-]?\d+),(\d+)$/

/** Excel's first line, which may name the separator: `sep=;`. */
const SEP = /^sep=/i

/** The line of a text that should be its header. */
export function readHeader(head: string): string {
  const [first = '', second = ''] = head.trimStart().replaceAll('"', '').split(/\r?\n/, 2)
  return SEP.test(first) ? second : first
}

/** Finds the separator with which the first line is a header; undefined if no separator fits. */
function separatorOf(head: string): string | undefined {
  const line = readHeader(head)
  return SEPARATORS.find((one) => namePosition(line.split(one).map(normalizeName)))
}
