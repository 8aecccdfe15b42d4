import { expect, test } from '@jest/globals'
import type { Extent } from '../../event-log/event-log.ts'
import {
  endOf,
  higherOffsets,
  hasReached,
  includes,
  lowerOffsets,
} from '../../event-log/offsets.ts'

/** Partition 0 holds 10..19, partition 1 was emptied by retention, partition 2 is new. */
const extent: readonly Extent[] = [
  { partition: 0, first: 10, next: 20, whole: false },
  { partition: 1, first: 7, next: 7, whole: false },
  { partition: 2, first: 0, next: 0, whole: true },
]

test('an event is included up to its own offset; a partition that is not listed has nothing yet', () => {
  expect(includes({ 0: 5 }, { partition: 0, offset: 5 })).toBe(true)
  expect(includes({ 0: 5 }, { partition: 0, offset: 6 })).toBe(false)
  expect(includes({ 0: 5 }, { partition: 1, offset: 0 })).toBe(false)
})

test('marks are compared partition by partition', () => {
  expect(hasReached({ 0: 5, 1: 2 }, { 0: 5 })).toBe(true)
  expect(hasReached({ 0: 5 }, { 0: 5, 1: 0 })).toBe(false)
  expect(hasReached({ 0: 4, 1: 9 }, { 0: 5, 1: 9 })).toBe(false)
  expect(higherOffsets({ 0: 5, 1: 2 }, { 1: 7, 2: 0 })).toEqual({ 0: 5, 1: 7, 2: 0 })
})

test('the end of the log is reached when every non-empty partition is at its end', () => {
  expect(endOf(extent)).toEqual({ 0: 19 })
  expect(hasReached({ 0: 19 }, endOf(extent))).toBe(true)
  expect(hasReached({ 0: 25, 1: 3 }, endOf(extent))).toBe(true)
  expect(hasReached({ 0: 18, 1: 6 }, endOf(extent))).toBe(false)
  expect(hasReached({}, endOf(extent))).toBe(false)
  expect(hasReached({}, {})).toBe(true)
})

test('waiting stops at the end of the log', () => {
  expect(lowerOffsets({ 0: 99, 2: 5 }, { 0: 19, 1: 3 })).toEqual({ 0: 19 })
  expect(lowerOffsets({ 0: 5 }, { 0: 19 })).toEqual({ 0: 5 })
})
