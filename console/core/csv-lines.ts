import { guardFormulas } from '../../schemas/text/csv-formulas.ts'

type Cell = string | number | undefined

/** Rows as a CSV file (RFC 4180), one per line. */
export function csvLines(rows: readonly (readonly Cell[])[]): string {
  return rows.map((cells) => `${cells.map(cellText).join(',')}\r\n`).join('')
}

function cellText(value: Cell): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = guardFormulas(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
