import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { comparePositionTimes, seenAt, trueAt } from '../../../schemas/geo/position-order.ts'
import { T0 } from '../../samples.ts'

const at = (timestamp: number, receivedAt: number) => ({
  timestamp: T0 + timestamp,
  receivedAt: T0 + receivedAt,
})

test('a position is later if its timestamp is later or, with equal timestamps, its receipt', () => {
  expect(comparePositionTimes(at(2, 3), at(1, 9))).toBeGreaterThan(0)
  expect(comparePositionTimes(at(1, 3), at(1, 2))).toBeGreaterThan(0)
  expect(comparePositionTimes(at(1, 3), at(1, 3))).toBe(0)
})

test('a clock that runs ahead never dates a position after its receipt', () => {
  expect(trueAt(at(9, 3))).toBe(T0 + 3)
  expect(comparePositionTimes(at(9, 3), at(4, 5))).toBeLessThan(0)
})

test('only an imported position is a sign of life earlier than its receipt', () => {
  expect(seenAt(at(1, 3))).toBe(T0 + 3)
  expect(seenAt({ ...at(1, 3), imported: true })).toBe(T0 + 1)
  expect(seenAt({ ...at(9, 3), imported: true })).toBe(T0 + 3)
})

test('times sort in the same order as text and as numbers', () => {
  const moment = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2100, 0) })
  const position = fc.record({ timestamp: moment, receivedAt: moment })
  const written = ({ timestamp, receivedAt }: { timestamp: number; receivedAt: number }) => ({
    timestamp: new Date(timestamp).toISOString(),
    receivedAt: new Date(receivedAt).toISOString(),
  })
  fc.assert(
    fc.property(position, position, (a, b) => {
      expect(comparePositionTimes(written(a), written(b))).toBe(comparePositionTimes(a, b))
    }),
  )
})
