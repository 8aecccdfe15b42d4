import { timeLeft } from '../progress.ts'
import { finished, total, type SimulationTally } from './tally.ts'

/**
 * The state of a run in a line; the rate is the average of the run.
 * @param expected reports in all; Infinity if only the user ends the run.
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
  const done = finished(tally)
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
