import type { Percentiles } from './load/latencies.ts'
import type { GrowthResult, HistoryResult } from './growth/measure.ts'
import type { ProjectorResult } from './projector/measure.ts'
import type { ReadableResult } from './readable/measure.ts'
import type { Measured } from './measured.ts'
import type { Result } from './result.ts'
import type { SendersResult } from './senders/measure.ts'
import type { SubmitResult } from './submit/summary.ts'

/** Everything measured, as text. */
export function tables({ parts, figures }: Result): string {
  const { submit, senders, readable, projector, growth, history } = parts
  const sections = [
    ...section('Taking reports', submit, submitTable),
    ...section('Reports of apps', senders, sendersTable),
    ...section('From the 200 to readable', readable, readableTable),
    ...section('Projecting a full log', projector, projectorTable),
    ...section('More and more devices', growth, growthTables),
    ...section('A long history, SQLite', history, historyTable),
    'Figures',
    aligned([
      ['', 'value', 'must', 'wanted', ''],
      ...figures.map(({ name, value, unit, must, wanted, verdict }) => [
        name,
        value === undefined ? '' : `${number(value)} ${unit}`.trim(),
        `${must} ${unit}`.trim(),
        `${wanted} ${unit}`.trim(),
        verdict,
      ]),
    ]),
  ]
  return `${sections.join('\n\n')}\n`
}

function section<Part extends Measured>(
  title: string,
  part: Part | undefined,
  table: (part: Part) => string,
): string[] {
  return part === undefined ? [] : [heading(title, part), table(part)]
}

function heading(title: string, { at, machine, rounds, faults }: Measured): string {
  const line = `${title} (${machine}; ${at.slice(0, 16)}Z; median of ${rounds} rounds)`
  return [line, ...faults.map((fault) => `VOID: ${fault}`)].join('\n')
}

function submitTable({ rows, batchless }: SubmitResult): string {
  const lines = rows.map(({ candidate, shape, latency, paced, ...row }) => [
    ...[candidate, shape, number(row.perSecond), number(row.cpuMicros), number(row.ratio)],
    ...[percentiles(latency), paced === undefined ? '' : number(paced.perSecond)],
    ...(paced === undefined ? ['', ''] : [percentiles(paced.latency), number(paced.p99Ratio)]),
    number(row.generatorCpu),
  ])
  const header = [
    ...['', '', 'reports/s', 'CPU µs/report', '÷ bare', 'ms: p50 p99 p99.9'],
    ...['at 70 %: requests/s', 'ms: p50 p99 p99.9', 'p99 ÷ bare', "generator's CPU"],
  ]
  const missing = batchless.map((name) => [name, 'batches of 100', 'not there'])
  return aligned([header, ...lines, ...missing])
}

function sendersTable({ rows }: SendersResult): string {
  return aligned([
    ['', 'reports at once', 'CPU µs/report', 'native', '÷ native'],
    ...rows.map(({ sender, batch, cpuMicros, nativeCpuMicros, ratio }) => [
      ...[sender, number(batch), number(cpuMicros), number(nativeCpuMicros), number(ratio)],
    ]),
  ])
}

function readableTable({ reportsPerSecond, latency, asked }: ReadableResult): string {
  return aligned([
    ['reports/s', 'asked for', 'ms: p50 p99 p99.9'],
    [number(reportsPerSecond), number(asked), percentiles(latency)],
  ])
}

function projectorTable({ rows }: ProjectorResult): string {
  return aligned([
    ['into', 'events/s', 'bare driver loop', '÷ bare', 'CPU µs/event', 'events', 'devices'],
    ...rows.map(({ store, perSecond, barePerSecond, ratio, cpuMicros, events, devices }) => [
      store,
      ...[perSecond, barePerSecond, ratio, cpuMicros, events, devices].map(number),
    ]),
  ])
}

function growthTables({ stores, services }: GrowthResult): string {
  return [
    aligned([
      ['SQLite, devices', 'projected events/s', 'last position, µs'],
      ...stores.map(({ devices, projectedPerSecond, lastPositionMicros }) =>
        [devices, projectedPerSecond, lastPositionMicros].map(number),
      ),
    ]),
    aligned([
      ['', 'devices', 'memory, MB', 'reports/s', 'CPU µs/report', 'ms: p50 p99 p99.9'],
      ...services.map(({ candidate, devices, residentMB, perSecond, cpuMicros, latency }) => [
        candidate,
        ...[devices, residentMB, perSecond, cpuMicros].map(number),
        percentiles(latency),
      ]),
    ]),
  ].join('\n\n')
}

function historyTable({ rows }: HistoryResult): string {
  return aligned([
    ['records', 'filled/s', 'newest page, µs', 'a page in the middle, µs'],
    ...rows.map(({ records, filledPerSecond, newestPageMicros, pageMicros }) =>
      [records, filledPerSecond, newestPageMicros, pageMicros].map(number),
    ),
  ])
}

function percentiles({ p50, p99, p999 }: Percentiles): string {
  return [p50, p99, p999].map(number).join(' ')
}

/** Three digits, thousands apart. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '?'
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en').replaceAll(',', ' ')
  return String(Number(value.toPrecision(3)))
}

/** Columns side by side: the first two to the left, the others to the right. */
export function aligned(lines: readonly (readonly string[])[]): string {
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
