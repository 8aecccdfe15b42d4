import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { timeTrack } from '../../../commands/simulate/track-times.ts'

const NOW = Date.UTC(2026, 0, 1)
const T = Date.UTC(2020, 11, 18, 6)
const place = { latitude: 45, longitude: 13 }

function times(track: readonly (number | undefined)[], mode: 'original' | 'now' = 'original') {
  const points = track.map((time) => ({ ...place, ...(time !== undefined && { time }) }))
  return timeTrack(points, { times: mode, now: NOW }).map(({ time }) => time)
}

test('points without a time lie one second apart before the next that has one', () => {
  expect(times([undefined, undefined, undefined, T, undefined, T + 60_000])).toEqual([
    T - 3000,
    T - 2000,
    T - 1000,
    T,
    T + 59_000,
    T + 60_000,
  ])
})

test('more points without a time than there are seconds reach back beyond the point before', () => {
  expect(times([T, undefined, undefined, undefined, T + 2000])).toEqual([
    T,
    T - 1000,
    T,
    T + 1000,
    T + 2000,
  ])
})

test('points without a time at the end lie one second apart after the last that has one', () => {
  expect(times([T, undefined, undefined])).toEqual([T, T + 1000, T + 2000])
})

test.each(['original', 'now'] as const)(
  'a track without any time ends now, points one second apart (%s)',
  (mode) => {
    expect(times([undefined, undefined, undefined], mode)).toEqual([NOW - 2000, NOW - 1000, NOW])
  },
)

test('a track moved to now keeps every gap', () => {
  const track = fc.array(fc.option(fc.integer({ min: T, max: T + 1e9 }), { nil: undefined }), {
    minLength: 1,
  })
  fc.assert(
    fc.property(track, (recorded) => {
      const original = times(recorded)
      const moved = times(recorded, 'now')
      expect(moved.at(-1)).toBe(NOW)
      const shift = NOW - (original.at(-1) ?? NaN)
      expect(moved).toEqual(original.map((time) => time + shift))
    }),
  )
})
