import { Percentiles } from './percentiles.ts'

/** What has happened to the reports so far. */
export type Tally = {
  /** Reports sent, however often each was repeated. */
  sent: number
  acknowledged: number
  /** Refused for good, by error identifier. */
  readonly refused: Map<string, number>
  /** Not answered, or put off, until patience ended; by the last reason. */
  readonly givenUp: Map<string, number>
  /** Still without an answer when the run was ended from outside. */
  unfinished: number
  /** Requests that had to be sent again, by reason. */
  readonly repeated: Map<string, number>
  /** Milliseconds from each request to its answer, of whatever kind. */
  readonly answerMs: Percentiles
}

export function newTally(): Tally {
  return {
    sent: 0,
    acknowledged: 0,
    refused: new Map(),
    givenUp: new Map(),
    unfinished: 0,
    repeated: new Map(),
    answerMs: new Percentiles(),
  }
}

export function count(counts: Map<string, number>, reason: string): void {
  counts.set(reason, (counts.get(reason) ?? 0) + 1)
}

export function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, n) => sum + n, 0)
}

/** Reports that have come to an end, whatever it was. */
export function finished({ acknowledged, refused, givenUp, unfinished }: Tally): number {
  return acknowledged + total(refused) + total(givenUp) + unfinished
}
