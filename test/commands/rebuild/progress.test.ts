import { describe, expect, test } from '@jest/globals'
import { progressText, showProgress } from '../../../commands/rebuild/progress.ts'

test.each([
  [0, 0, 0, '0 of 0 events (100 %)'],
  [0, 5_000, 800, '0 of 5,000 events (0 %)'],
  [1_200, 5_000, 2_000, '1,200 of 5,000 events (24 %), 600/s, about 7 s left'],
  [4_999, 5_000, 5_000, '4,999 of 5,000 events (99 %), 1,000/s, about 1 s left'],
  [5_000, 5_000, 5_000, '5,000 of 5,000 events (100 %), 1,000/s'],
  [1_000, 1_000_000, 1_000, '1,000 of 1,000,000 events (0 %), 1,000/s, about 17 min left'],
])('%d of %d events after %d ms', (done, total, elapsedMs, text) => {
  expect(progressText({ done, total, elapsedMs })).toBe(text)
})

describe('progress', () => {
  test('is a line every few seconds, and one at the end', () => {
    const { written, at, progress } = started({ isTTY: false })
    for (let second = 0; second <= 11; second += 1) {
      at(second * 1_000)
      progress.show({ done: second * 10, total: 115 })
    }
    progress.show({ done: 115, total: 115 })
    progress.end()
    expect(written.map((line) => line.split(',')[0])).toEqual([
      'building: 0 of 115 events (0 %)\n',
      'building: 50 of 115 events (43 %)',
      'building: 100 of 115 events (86 %)',
      'building: 115 of 115 events (100 %)',
    ])
    expect(written.every((line) => line.endsWith('\n'))).toBe(true)
  })

  test('is one line of a terminal, written again and again', () => {
    const { written, at, progress } = started({ isTTY: true })
    progress.show({ done: 0, total: 10 })
    at(100)
    progress.show({ done: 3, total: 10 })
    at(500)
    progress.show({ done: 5, total: 10 })
    progress.end()
    expect(written).toEqual([
      '\r\u001b[Kbuilding: 0 of 10 events (0 %)',
      '\r\u001b[Kbuilding: 5 of 10 events (50 %), 10/s, about 1 s left',
      '\n',
    ])
  })
})

function started({ isTTY }: { isTTY: boolean }) {
  const written: string[] = []
  let time = 0
  const screen = { isTTY, write: (text: string) => written.push(text) }
  return {
    written,
    at: (ms: number) => (time = ms),
    progress: showProgress({ what: 'building', screen, now: () => time }),
  }
}
