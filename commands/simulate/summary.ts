import { timeLeft } from '../progress.ts'
import { SampledPercentiles } from './percentiles.ts'
import type { Visibility } from './visibility-check.ts'

/** The result of a run. `seconds`: from its start to the end of the last report. */
export type RunResult = {
  readonly devices: number
  readonly seconds: number
  readonly tally: SimulationTally
  readonly visibility?: Visibility
  /** The reason why the run ended early, unless the user stopped it. */
  readonly endedBecause?: string
}

/** Whether every report was acknowledged and, with `--verify`, every record was read. */
export function isFlawless({ tally, visibility, endedBecause }: RunResult): boolean {
  return (
    endedBecause === undefined &&
    tally.acknowledged === tally.sent &&
    (visibility === undefined || visibility.missing + visibility.unchecked === 0)
  )
}

/** The result as a small aligned table. */
export function simulationSummary(result: RunResult): string {
  const { devices, seconds, tally, visibility, endedBecause } = result
  const rows: Row[] = [
    ['devices', devices],
    ['sent', tally.sent],
    ['acknowledged', tally.acknowledged],
    ['refused', total(tally.refused)],
    ...listByReason(tally.refused),
    ...group('given up', tally.givenUp),
    ...(tally.unfinished > 0 ? [['unfinished', tally.unfinished] as const] : []),
    ...group('repeated', tally.repeated),
    ['time', `${seconds.toFixed(1)} s`],
    ['rate', `${(seconds > 0 ? tally.acknowledged / seconds : 0).toFixed(1)}/s`],
    ...percentiles('answered in', tally.answerMs),
    ...(visibility === undefined ? [] : visibilityRows(visibility)),
  ]
  const wide = Math.max(...rows.map(([name]) => name.length))
  const lines = rows.map(([name, value]) => `  ${name.padEnd(wide)}  ${value}`)
  const ended = endedBecause === undefined ? [] : [`ended early: ${endedBecause}`]
  return `${[...ended, ...lines].join('\n')}\n`
}

type Row = readonly [name: string, value: string | number]

function group(name: string, counts: ReadonlyMap<string, number>): Row[] {
  return counts.size === 0 ? [] : [[name, total(counts)], ...listByReason(counts)]
}

function listByReason(counts: ReadonlyMap<string, number>): Row[] {
  return [...counts].sort().map(([reason, n]) => [`  ${reason}`, n])
}

function percentiles(name: string, values: SampledPercentiles): Row[] {
  const read = values.read()
  if (read === undefined) return []
  const text = Object.entries(read).map(([label, value]) => `${label} ${value.toFixed(1)}`)
  return [[name, `${text.join('  ')} ms`]]
}

function visibilityRows({ readableMs, missing, unchecked, refusedBecause }: Visibility): Row[] {
  return [
    ['readable', readableMs.count],
    ...percentiles('readable in', readableMs),
    ['missing', missing],
    ...(unchecked > 0 ? [['not checked', unchecked] as const] : []),
    ...(refusedBecause !== undefined
      ? [['reading refused', `${refusedBecause} (--read-key needs positions:read)`] as const]
      : []),
  ]
}

/**
 * The state of a run as one line; the rate is the average of the run.
 * @param expected reports in total; Infinity if only the user ends the run.
 */
export function progressLine({
  tally,
  expected,
  elapsedMs,
}: {
  tally: SimulationTally
  expected: number
  elapsedMs: number
}): string {
  const done = countFinished(tally)
  const perSecond = elapsedMs > 0 ? (done * 1000) / elapsedMs : 0
  const of = Number.isFinite(expected) ? `/${expected}` : ''
  const lost = total(tally.refused) + total(tally.givenUp)
  return [
    `sent ${tally.sent}${of}`,
    `acknowledged ${tally.acknowledged}`,
    `refused ${lost}`,
    `in flight ${tally.sent - done}`,
    `${perSecond.toFixed(1)}/s`,
    ...(Number.isFinite(expected) && perSecond > 0 ? timeLeft((expected - done) / perSecond) : []),
  ].join('  ')
}

/** The outcomes of the reports so far. */
type SimulationTally = {
  /** Reports sent, not counting retries. */
  sent: number
  acknowledged: number
  /** Number of refused reports, by error identifier. */
  readonly refused: Map<string, number>
  /** Given up after `--give-up` seconds, by the last reason. */
  readonly givenUp: Map<string, number>
  /** Number of reports without a response when the user stopped the run. */
  unfinished: number
  /** Retried requests, by reason. */
  readonly repeated: Map<string, number>
  /** Milliseconds from each request to its response. */
  readonly answerMs: SampledPercentiles
}

export function newTally(): SimulationTally {
  return {
    sent: 0,
    acknowledged: 0,
    refused: new Map(),
    givenUp: new Map(),
    unfinished: 0,
    repeated: new Map(),
    answerMs: new SampledPercentiles(),
  }
}

export function count(counts: Map<string, number>, reason: string): void {
  counts.set(reason, (counts.get(reason) ?? 0) + 1)
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, n) => sum + n, 0)
}

/** Reports with an outcome. */
function countFinished({ acknowledged, refused, givenUp, unfinished }: SimulationTally): number {
  return acknowledged + total(refused) + total(givenUp) + unfinished
}
