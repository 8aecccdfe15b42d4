import { SampledPercentiles } from './percentiles.ts'

/** The outcomes of the reports so far. */
export type SimulationTally = {
  /** Reports sent, not counting repeats. */
  sent: number
  acknowledged: number
  /** Refused, by error identifier. */
  readonly refused: Map<string, number>
  /** Given up after `--give-up` seconds, by the last reason. */
  readonly givenUp: Map<string, number>
  /** Without an answer when the user stopped the run. */
  unfinished: number
  /** Requests sent again, by reason. */
  readonly repeated: Map<string, number>
  /** Milliseconds from each request to its answer. */
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

export function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, n) => sum + n, 0)
}

/** Reports with an outcome. */
export function finished({ acknowledged, refused, givenUp, unfinished }: SimulationTally): number {
  return acknowledged + total(refused) + total(givenUp) + unfinished
}
