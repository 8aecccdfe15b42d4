import { describe, expect, test } from '@jest/globals'
import type { Extent } from '../../../event-log/event-log.ts'
import { eventsDone, findMissingEntries } from '../../../commands/rebuild/log-coverage.ts'

/** Partition 0 holds 10..19, partition 1 was emptied by retention, partition 2 is new. */
const extent: readonly Extent[] = [
  { partition: 0, first: 10, next: 20, whole: false },
  { partition: 1, first: 7, next: 7, whole: false },
  { partition: 2, first: 0, next: 0, whole: true },
]

test('only events still in the log count as applied', () => {
  expect(eventsDone({}, extent)).toEqual({ done: 0, total: 10 })
  expect(eventsDone({ 0: 3 }, extent)).toEqual({ done: 0, total: 10 })
  expect(eventsDone({ 0: 14, 1: 6 }, extent)).toEqual({ done: 5, total: 10 })
  expect(eventsDone({ 0: 99 }, extent)).toEqual({ done: 10, total: 10 })
})

describe('records', () => {
  test.each([
    ['there are none', []],
    ['the log holds the first and the last of them', [[0, 10, 19]]],
  ] as const)('records can be rebuilt if %s', (_name, origins) => {
    expect(findMissingEntries(bounds(origins), extent)).toBeUndefined()
  })

  test.each([
    ['it does not reach back', [[0, 9, 19]], 'only to offset 10 of partition 0'],
    ['the partition was emptied', [[1, 6, 6]], 'only to offset 7 of partition 1'],
    ['it ends before them', [[0, 10, 20]], 'they were built from another log'],
    ['it has no such partition', [[5, 0, 0]], 'no partition 5'],
  ] as const)('records cannot be rebuilt if %s', (_name, origins, reason) => {
    expect(findMissingEntries(bounds(origins), extent)).toContain(reason)
  })
})

function bounds(origins: readonly (readonly [number, number, number])[]) {
  return new Map(origins.map(([partition, least, greatest]) => [partition, { least, greatest }]))
}
