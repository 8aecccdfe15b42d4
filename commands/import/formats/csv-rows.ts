import { Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { UnreadableError, type Text } from './format.ts'

export type Row = { readonly line: number; readonly cells: readonly string[] }

/**
 * The rows of a CSV text after its header. Rows may have more or fewer cells than the header; a quote
 * within a cell that is not quoted is an ordinary character.
 * @throws {UnreadableError} if a quoted cell does not end.
 */
export async function* csvRows(
  text: Text,
): AsyncGenerator<{ header: readonly string[]; row: Row }> {
  const parser = parse({
    ...{ relax_column_count: true, relax_quotes: true, skip_empty_lines: true, info: true },
  })
  const source = Readable.from(text)
  source.on('error', (error) => parser.destroy(error)).pipe(parser)
  let header: readonly string[] | undefined
  try {
    for await (const parsed of parser as AsyncIterable<{
      record: string[]
      info: { lines: number }
    }>) {
      const { record: cells, info } = parsed
      if (header === undefined) header = cells
      else yield { header, row: { line: info.lines, cells } }
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_')))
      throw error
    throw new UnreadableError(`it is not valid CSV: ${error.message}`)
  } finally {
    source.destroy()
  }
}
