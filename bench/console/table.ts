import { verdict, type Figure } from '../figures.ts'
import { measured } from '../part.ts'
import { aligned, figureTable, heading, number } from '../table.ts'
import type { ConsoleResult } from './measure.ts'

type Bounds = Pick<Figure, 'name' | 'unit' | 'must'> & {
  readonly wanted?: number
  readonly read: (result: ConsoleResult) => number
}

const BOUNDS: readonly Bounds[] = [
  { name: 'p95 frame, dragging', unit: 'ms', must: 32, wanted: 20, read: ({ dragP95 }) => dragP95 },
  { name: 'p95 frame, wheel', unit: 'ms', must: 32, wanted: 20, read: ({ wheelP95 }) => wheelP95 },
  {
    name: 'main thread busy, still',
    ...{ unit: '%', must: 20, read: ({ busyStill }) => 100 * busyStill },
  },
  { name: 'first map', unit: 'ms', must: 1_500, read: ({ firstMapMs }) => firstMapMs },
  { name: 'report to dot', unit: 'ms', must: 500, read: ({ dotMs }) => dotMs },
  { name: 'a day at 1 Hz drawn', unit: 'ms', must: 1_000, read: ({ dayMs }) => dayMs },
  { name: 'JS and CSS, gzip', unit: 'kB', must: 250, read: ({ weight }) => weight.all },
  { name: 'of it for signing in', unit: 'kB', must: 40, read: ({ weight }) => weight.signIn },
  {
    name: 'heap, growth while it is watched',
    ...{ unit: 'MB', must: 2, read: ({ heap }) => growth(heap.megabytes) },
  },
  {
    name: 'the same in a hidden tab',
    ...{ unit: 'MB', must: 2, read: ({ heap }) => growth(heap.hidden) },
  },
]

/** Everything measured, as text. */
export function consoleTable(result: ConsoleResult, rounds: number): string {
  const { faults, busyMoving, trackMs, heap } = result
  const figures = BOUNDS.map(({ read, must, wanted = must, ...figure }) => {
    const value = read(result)
    return { ...figure, value, must, wanted, verdict: verdict({ value, must, wanted }, { faults }) }
  })
  const others = [
    ['main thread busy, dragging', `${number(100 * busyMoving)} %`],
    ['of the day at 1 Hz, until its track is answered', `${number(trackMs)} ms`],
    [`heap over ${number(heap.minutes)} minutes`, `${heap.megabytes.map(number).join(' ')} MB`],
    ['the same in a hidden tab', `${heap.hidden.map(number).join(' ')} MB`],
  ]
  const title = 'The console, 10 000 devices, 200 reports/s'
  return `${[
    heading(measured({ title, rows: [], faults }, rounds)),
    figureTable(figures),
    aligned(others),
  ].join('\n\n')}\n`
}

/**
 * The slope of the line that fits the samples best, without the first quarter, in which caches
 * fill.
 */
export function growth(megabytes: readonly number[]): number {
  const samples = megabytes.map((value, at) => ({ value, at }))
  const settled = samples.slice(Math.floor(samples.length / 4))
  const mean = (read: (sample: { at: number; value: number }) => number) =>
    settled.reduce((sum, sample) => sum + read(sample), 0) / settled.length
  const [meanAt, meanValue] = [mean(({ at }) => at), mean(({ value }) => value)]
  const covariance = mean(({ at, value }) => (at - meanAt) * (value - meanValue))
  const variance = mean(({ at }) => (at - meanAt) ** 2)
  return Math.max(0, ((megabytes.length - 1) * covariance) / variance)
}
