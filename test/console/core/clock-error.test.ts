import { expect, test } from '@jest/globals'
import { clockError } from '../../../console/core/clock-error.ts'

const DAY = 86_400_000
const NOW = Date.parse('2026-11-25T18:00:00.000Z')

/** A report that arrived `minutes` ago, dated `days` earlier. */
function report(minutesAgo: number, daysBehind: number, imported?: true) {
  const receivedMs = NOW - minutesAgo * 60_000
  return {
    receivedAt: new Date(receivedMs).toISOString(),
    timestamp: new Date(receivedMs - daysBehind * DAY).toISOString(),
    ...(imported && { imported }),
  }
}

test('reports dated 1024 weeks before they arrive mean a GPS week rollover', () => {
  const error = clockError(report(30, 0), [report(20, 7168), report(10, 7168), report(40, 7168)])
  expect(error).toEqual({
    kind: 'clock-behind',
    isRollover: true,
    isLast: false,
    receivedMs: NOW - 600_000,
    datedMs: NOW - 600_000 - 7168 * DAY,
  })
})

test('reports dated years before they arrive mean a clock that is behind, also as the last position', () => {
  expect(clockError(report(30, 0), [report(10, 3_000)])).toMatchObject({ isRollover: false })
  expect(clockError(report(10, 3_000), [])).toMatchObject({ isRollover: false, isLast: true })
})

test('reports dated minutes after they arrive mean a clock that is ahead, unless imported', () => {
  expect(clockError(report(10, -0.125), [])).toEqual({
    kind: 'clock-ahead',
    receivedMs: NOW - 600_000,
    datedMs: NOW - 600_000 + DAY / 8,
  })
  expect(clockError(report(10, -60 / 86_400), [])).toBeUndefined()
  expect(clockError(report(10, -0.125, true), [])).toBeUndefined()
})

test('a clock is right again once a report with the right date arrives', () => {
  expect(clockError(report(5, 0), [report(10, 7168)])).toBeUndefined()
})

test('imported history and reports that waited for months say nothing about a clock', () => {
  expect(clockError(report(30, 0), [report(10, 7168, true), report(10, 170)])).toBeUndefined()
  expect(clockError(report(10, 7168, true), [])).toBeUndefined()
})

test('a clock that is behind is known although the last position was imported later', () => {
  expect(clockError(report(5, 1, true), [report(10, 7168)])).toMatchObject({ isRollover: true })
})
