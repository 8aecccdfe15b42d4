import { describe, expect, test } from '@jest/globals'
import { progressLine, showProgress } from '../../../commands/simulate/progress.ts'
import { newTally } from '../../../commands/simulate/tally.ts'
import { eventually } from '../../eventually.ts'

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

describe('progress', () => {
  test('a line tells what was sent, answered, is in flight, how fast, and what is left', () => {
    expect(progressLine({ tally: tally(), expected: 7_000, elapsedMs: 10_000 })).toBe(
      'sent 120/7000  acknowledged 95  refused 5  in flight 20  10.0/s  11:30 left',
    )
    expect(progressLine({ tally: tally(), expected: 100_000, elapsedMs: 10_000 })).toContain(
      '2:46:30 left',
    )
  })

  test('a run without an end has none to tell', () => {
    expect(progressLine({ tally: tally(), expected: Infinity, elapsedMs: 10_000 })).toBe(
      'sent 120  acknowledged 95  refused 5  in flight 20  10.0/s',
    )
    expect(progressLine({ tally: newTally(), expected: 100, elapsedMs: 0 })).toBe(
      'sent 0/100  acknowledged 0  refused 0  in flight 0  0.0/s',
    )
  })

  async function shown(screen: { isTTY?: boolean; columns?: number }) {
    const written: string[] = []
    const stop = showProgress({
      screen: { ...screen, write: (text: string) => written.push(text) },
      tally: tally(),
      expected: 7_000,
      now: Date.now,
      everyMs: 1,
    })
    await eventually(() => written.length >= 2)
    stop()
    return written
  }

  test('on a terminal one line is rewritten, never wider than the screen, and gone at the end', async () => {
    const written = await shown({ isTTY: true, columns: 20 })
    expect(written[1]).toBe('\r\u001b[Ksent 120/7000  ackn')
    expect(written.at(-1)).toBe('\r\u001b[K')
  })

  test('elsewhere each is a line of its own', async () => {
    const written = await shown({})
    for (const line of written) expect(line).toMatch(/^sent 120\/7000 .*\n$/)
  })
})
