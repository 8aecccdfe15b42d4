import { figures, type FigureBounds } from '../figures.ts'
import type { MeasuredPart } from '../part.ts'
import { aligned, figureTable, heading } from '../table.ts'

export const TITLE = 'The console, 10 000 devices, 200 reports/s'

const BOUNDED = [
  { name: 'p95 frame, dragging', unit: 'ms', must: 32, wanted: 20 },
  { name: 'p95 frame, wheel', unit: 'ms', must: 32, wanted: 20 },
  { name: 'p95 frame, dragging, streets', unit: 'ms', must: 32, wanted: 20 },
  { name: 'p95 frame, wheel, streets', unit: 'ms', must: 32, wanted: 20 },
  { name: 'main thread busy, still', unit: '%', must: 20, wanted: 20 },
  { name: 'first map', unit: 'ms', must: 1_500, wanted: 1_500 },
  { name: 'report to dot', unit: 'ms', must: 500, wanted: 500 },
  { name: 'a day at 1 Hz drawn', unit: 'ms', must: 1_000, wanted: 1_000 },
  { name: 'JS and CSS, gzip', unit: 'kB', must: 250, wanted: 250 },
  { name: 'of it for signing in', unit: 'kB', must: 40, wanted: 40 },
  { name: 'heap, growth while it is watched', unit: 'MB', must: 2, wanted: 2 },
  { name: 'the same in a hidden tab', unit: 'MB', must: 2, wanted: 2 },
] as const satisfies readonly Pick<FigureBounds, 'name' | 'unit' | 'must' | 'wanted'>[]

export type ConsoleFigure = (typeof BOUNDED)[number]['name']

/** Everything measured, as text: the figures that have bounds, and then the others. */
export function consoleTable(console: MeasuredPart): string {
  const bounds = BOUNDED.map((one) => ({ ...one, title: TITLE, row: [one.name], column: 'value' }))
  const others = console.rows.filter(({ value }) => typeof value === 'string')
  return `${[
    heading(console),
    figureTable(figures([console], bounds)),
    aligned(others.map((row) => Object.values(row).map(String))),
  ].join('\n\n')}\n`
}
