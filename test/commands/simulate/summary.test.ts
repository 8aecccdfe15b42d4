import { expect, test } from '@jest/globals'
import { progressLine, newTally } from '../../../commands/simulate/summary.ts'

function tally() {
  return {
    ...newTally(),
    sent: 120,
    acknowledged: 95,
    refused: new Map([
      ['INVALID_PARAMS', 2],
      ['FORBIDDEN', 1],
    ]),
    givenUp: new Map([['ECONNREFUSED', 2]]),
  }
}

test('a line shows reports sent, answered and in flight, the rate, and the time left', () => {
  expect(progressLine({ tally: tally(), expected: 7_000, elapsedMs: 10_000 })).toBe(
    'sent 120/7000  acknowledged 95  refused 5  in flight 20  10.0/s  about 12 min left',
  )
  expect(progressLine({ tally: tally(), expected: 100_000, elapsedMs: 10_000 })).toContain(
    'about 3 h left',
  )
})

test('the progress of an endless run shows no end', () => {
  expect(progressLine({ tally: tally(), expected: Infinity, elapsedMs: 10_000 })).toBe(
    'sent 120  acknowledged 95  refused 5  in flight 20  10.0/s',
  )
  expect(progressLine({ tally: newTally(), expected: 100, elapsedMs: 0 })).toBe(
    'sent 0/100  acknowledged 0  refused 0  in flight 0  0.0/s',
  )
})
