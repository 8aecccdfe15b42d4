import { expect, test } from '@jest/globals'
import {
  parseOtherDevices,
  replayPath,
  replaySpeed,
  skipRest,
} from '../../../console/core/replay.ts'

const HOUR = 3_600_000
const DRIVES = [
  { from: 7 * HOUR, to: 8 * HOUR },
  { from: 9 * HOUR, to: 10 * HOUR },
  // Another van.
  { from: 7.5 * HOUR, to: 8.5 * HOUR },
]

test('a replay continues immediately while anything moves, otherwise with the next trip', () => {
  expect(skipRest(DRIVES, 0)).toBe(7 * HOUR)
  expect(skipRest(DRIVES, 7 * HOUR)).toBe(7 * HOUR)
  expect(skipRest(DRIVES, 8.2 * HOUR)).toBe(8.2 * HOUR)
  expect(skipRest(DRIVES, 8.5 * HOUR)).toBe(9 * HOUR)
  expect(skipRest(DRIVES, 10 * HOUR)).toBe(Infinity)
})

test('the replay speed makes all driving take about a minute', () => {
  expect(replaySpeed(DRIVES)).toBe(180)
  expect(replaySpeed([{ from: 0, to: 20 * HOUR }])).toBe(600)
  expect(replaySpeed([{ from: 0, to: 30_000 }])).toBe(1)
  expect(replaySpeed([])).toBe(60)
})

test('the address names the other devices of a replay, with any characters in their ids', () => {
  const path = replayPath(['van 1', 'a,b', 'c&d'])
  const { pathname, searchParams } = new URL(path, 'http://console')
  expect(pathname).toBe('/devices/van%201')
  expect(parseOtherDevices(searchParams)).toEqual(['a,b', 'c&d'])
  const many = Array.from({ length: 30 }, (_, n) => `van-${n}`)
  expect(parseOtherDevices(new URL(replayPath(many), 'http://console').searchParams)).toHaveLength(
    9,
  )
  expect(parseOtherDevices(new URLSearchParams())).toEqual([])
})
