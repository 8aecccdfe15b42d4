import { figures, type Figure } from './figures.ts'
import type { MeasuredPart } from './part.ts'

/** All measurements, as text, and their figures. */
export function tables(parts: readonly MeasuredPart[]): string {
  const all = figures(parts)
  const blocks = parts.flatMap((part) => [heading(part), rowTable(part)])
  return `${[...blocks, ...(all.length > 0 ? ['Figures', figureTable(all)] : [])].join('\n\n')}\n`
}

function heading({ title, at, machine, rounds, faults }: Omit<MeasuredPart, 'rows'>): string {
  const line = `${title} (${machine}; ${at.slice(0, 16)}Z; median of ${rounds} rounds)`
  return [line, ...faults.map((fault) => `VOID: ${fault}`)].join('\n')
}

function rowTable({ rows }: MeasuredPart): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return alignColumns([
    columns,
    ...rows.map((row) =>
      columns.map((column) => {
        const value = row[column] ?? ''
        return typeof value === 'number' ? threeDigits(value) : value
      }),
    ),
  ])
}

/** Figures beside their bounds. */
function figureTable(figures: readonly Figure[]): string {
  return alignColumns([
    ['', 'value', 'must', 'wanted', ''],
    ...figures.map(({ name, value, unit, must, wanted, verdict }) => [
      name,
      value === undefined ? '' : `${threeDigits(value)} ${unit}`.trim(),
      `${threeDigits(must)} ${unit}`.trim(),
      `${threeDigits(wanted)} ${unit}`.trim(),
      verdict,
    ]),
  ])
}

/** Three significant digits, thousands separated by spaces. */
export function threeDigits(value: number): string {
  if (!Number.isFinite(value)) return '?'
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en').replaceAll(',', ' ')
  return String(Number(value.toPrecision(3)))
}

/** Aligns columns: the first two to the left, the others to the right. */
export function alignColumns(lines: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const line of lines) {
    line.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)))
  }
  return lines
    .map((line) =>
      line
        .map((cell, column) => {
          const width = widths[column] ?? 0
          return column < 2 ? cell.padEnd(width) : cell.padStart(width)
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
