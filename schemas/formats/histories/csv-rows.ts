import { parse } from 'csv-parse'
import { UnreadableError, type Text } from './format.ts'

export type CsvRow = { readonly line: number; readonly cells: readonly string[] }

const LONGEST = 1024 * 1024

/**
 * The rows of a CSV text after its header, without empty ones. Rows may have more or fewer cells than the header; a
 * quote within a cell that is not quoted is an ordinary character.
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
