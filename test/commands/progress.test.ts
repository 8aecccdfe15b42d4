import { expect, test } from '@jest/globals'
import { progressText, showProgress } from '../../commands/progress.ts'

test.each([
  [0, 0, 0, '0 of 0 events (100 %)'],
  [0, 5_000, 800, '0 of 5,000 events (0 %)'],
  [1_200, 5_000, 2_000, '1,200 of 5,000 events (24 %), 600/s, about 7 s left'],
  [4_999, 5_000, 5_000, '4,999 of 5,000 events (99 %), 1,000/s, about 1 s left'],
  [5_000, 5_000, 5_000, '5,000 of 5,000 events (100 %), 1,000/s'],
  [1_000, 1_000_000, 1_000, '1,000 of 1,000,000 events (0 %), 1,000/s, about 17 min left'],
])(
  'progress of %d of %d events after %d ms is shown on one line',
  (done, total, elapsedMs, text) => {
    expect(progressText({ done, total, elapsedMs })).toBe(text)
  },
)

test('progress is a line every few seconds, and one at the end', () => {
  const { written, at, progress } = started({ isTTY: false })
  for (let second = 0; second <= 11; second += 1) {
    at(second * 1_000)
    progress.show(() => `second ${second}`)
  }
  progress.show(() => 'done', { isLast: true })
  progress.end()
  expect(written).toEqual(['second 0\n', 'second 5\n', 'second 10\n', 'done\n'])
})

test('on a terminal, progress is one line that is rewritten', () => {
  const { written, at, progress } = started({ isTTY: true })
  progress.show(() => 'none')
  at(100)
  progress.show(() => 'too soon')
  at(500)
  progress.show(() => 'five')
  progress.end()
  expect(written).toEqual(['\r\u001b[Knone', '\r\u001b[Kfive', '\n'])
})

test('progress is never wider than the terminal, so it can be rewritten', () => {
  const { written, progress } = started({ isTTY: true, columns: 10 })
  progress.show(() => 'more than ten characters')
  expect(written).toEqual(['\r\u001b[Kmore than'])
})

function started(terminal: { isTTY: boolean; columns?: number }) {
  const written: string[] = []
  let time = 0
  const screen = { ...terminal, write: (text: string) => written.push(text) }
  return {
    written,
    at: (ms: number) => (time = ms),
    progress: showProgress({ screen, now: () => time }),
  }
}
