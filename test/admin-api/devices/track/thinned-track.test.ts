import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { length, earthPointOf } from '../../../../schemas/geo/earth-point.ts'
import { ThinnedTrack } from '../../../../admin-api/devices/track/thinned-track.ts'
import type { PositionRecord } from '../../../../schemas/devices/read-models.ts'
import { positionReported, T0 } from '../../../samples.ts'

function record(timestamp: number, latitude: number, longitude: number): PositionRecord {
  const event = positionReported({ timestamp, latitude, longitude })
  return { ...event, origin: { partition: 0, offset: 0 } }
}

const place = ({ latitude, longitude }: PositionRecord) => earthPointOf(latitude, longitude)

function thin(records: readonly PositionRecord[], limit: number, gapMs = Infinity) {
  const track = new ThinnedTrack<PositionRecord>({ limit, gapMs })
  for (const one of records) track.add(one, one.timestamp, place(one))
  return track
}

/** The largest distance of the shown track from any record, at the record's time. */
function worst(records: readonly PositionRecord[], shown: readonly PositionRecord[]): number {
  let far = 0
  let at = 0
  for (const one of records) {
    while (at + 2 < shown.length && (shown[at + 1]?.timestamp ?? 0) < one.timestamp) at += 1
    const [a, b] = [shown[at], shown[at + 1]]
    if (a === undefined || b === undefined) continue
    const part = (one.timestamp - a.timestamp) / (b.timestamp - a.timestamp)
    const [p, from, to] = [place(one), place(a), place(b)]
    const off = (axis: 'x' | 'y' | 'z') => p[axis] - from[axis] - part * (to[axis] - from[axis])
    far = Math.max(far, length(off('x'), off('y'), off('z')))
  }
  return far
}

/** A drive in steps of any length and direction, anywhere, across the 180th meridian and poles. */
const drive = fc
  .tuple(
    fc.double({ min: -89, max: 89, noNaN: true }),
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.array(
      fc.tuple(
        fc.integer({ min: 1, max: 600_000 }),
        fc.double({ min: -0.01, max: 0.01, noNaN: true }),
        fc.double({ min: -0.02, max: 0.02, noNaN: true }),
      ),
      { minLength: 1, maxLength: 400 },
    ),
  )
  .map(([latitude, longitude, steps]) => {
    let [at, lat, lon] = [T0, latitude, longitude]
    return steps.map(([ms, north, east]) => {
      at += ms
      lat = Math.min(90, Math.max(-90, lat + north))
      lon = ((lon + east + 540) % 360) - 180
      return record(at, lat, lon)
    })
  })

test('at each record’s time, a thinned track is no further from it than the tolerance', () => {
  fc.assert(
    fc.property(drive, fc.integer({ min: 2, max: 60 }), (records, limit) => {
      const track = thin(records, limit)
      const shown = track.records()
      expect(shown.length).toBe(Math.min(limit, records.length))
      expect(track.total).toBe(records.length)
      expect(shown[0]).toBe(records[0])
      expect(shown.at(-1)).toBe(records.at(-1))
      expect(worst(records, shown)).toBeLessThanOrEqual(track.tolerance + 1e-6)
      if (records.length <= limit) expect(track.tolerance).toBe(0)
    }),
    { numRuns: 200 },
  )
})

test('a thinned track keeps the corners of a path, and no other points', () => {
  const corners = [
    [0, 0],
    [0.1, 0],
    [0.1, 0.1],
    [0, 0.1],
  ] as const
  const records = corners.flatMap(([lat, lon], side) => {
    const [nextLat, nextLon] = corners[(side + 1) % 4] ?? [0, 0]
    return Array.from({ length: 500 }, (_, n) => {
      const [north, east] = [nextLat - lat, nextLon - lon]
      return record(T0 + (side * 500 + n) * 1_000, lat + (north * n) / 500, lon + (east * n) / 500)
    })
  })
  const track = thin(records, 100)
  const shown = track.records().map(({ latitude, longitude }) => `${latitude} ${longitude}`)
  for (const [lat, lon] of corners) expect(shown).toContain(`${lat} ${lon}`)
  expect(track.tolerance).toBeLessThan(1)
})

test('a thinned track keeps a stop on a straight path, or the device would be elsewhere at that time', () => {
  const driven = Array.from({ length: 300 }, (_, n) => {
    const moved = n < 100 ? n : n < 200 ? 100 : n - 100
    return record(T0 + n * 1_000, 0, moved / 1_000)
  })
  const track = thin(driven, 10)
  expect(worst(driven, track.records())).toBeLessThan(1)
})

test('a thinned track keeps both ends of its gaps, or of the longest if there are too many', () => {
  const records = Array.from({ length: 400 }, (_, n) => {
    // Every fourth silence is a gap, longer and longer.
    const at = T0 + n * 1_000 + Math.floor(n / 4) ** 2 * 600_000
    return record(at, 0, 0)
  })
  const track = thin(records, 100, 300_000)
  const gaps = track.gaps()
  expect(gaps.length).toBeLessThanOrEqual(25)
  expect(gaps.length).toBeGreaterThan(10)
  const shown = track.records()
  for (const { from, to } of gaps) expect(shown.indexOf(to)).toBe(shown.indexOf(from) + 1)
  const longest = records.slice(1).map((to, n) => to.timestamp - (records[n]?.timestamp ?? 0))
  longest.sort((a, b) => b - a)
  const lengths = gaps.map(({ from, to }) => to.timestamp - from.timestamp)
  expect(lengths.sort((a, b) => b - a)).toEqual(longest.slice(0, gaps.length))
})

test('a thinned track keeps both ends of a leap, however short the leap is', () => {
  const track = new ThinnedTrack<PositionRecord>({ limit: 100, gapMs: 300_000 })
  const records = Array.from({ length: 400 }, (_, n) => record(T0 + n * 1_000, n < 200 ? 0 : 1, 0))
  for (const [n, one] of records.entries()) track.add(one, one.timestamp, place(one), n === 200)
  expect(track.gaps()).toEqual([{ from: records[199], to: records[200] }])
  const shown = track.records()
  expect(shown.indexOf(records[200] as PositionRecord)).toBe(
    shown.indexOf(records[199] as PositionRecord) + 1,
  )
})

test('thinning a day at 1 Hz takes little time and memory', () => {
  const track = new ThinnedTrack<PositionRecord>({ limit: 2_000, gapMs: Infinity })
  for (let second = 0; second < 86_400; second += 1) {
    const turn = second / 700
    const one = record(T0 + second * 1_000, Math.sin(turn) / 9, Math.cos(turn * 1.7) / 9)
    track.add(one, one.timestamp, place(one))
  }
  expect(track.records()).toHaveLength(2_000)
  expect(track.tolerance).toBeLessThan(50)
})
