import { describe, expect, test } from '@jest/globals'
import {
  joinTracks,
  numericAttributes,
  partsOfTrack,
  positionAlong,
  pointAt,
  trackOf,
  smoothSpeeds,
} from '../../../console/core/track.ts'

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 31) + seconds * 1_000).toISOString()
const COLUMNS = [
  ...['timestamp', 'latitude', 'longitude', 'speed', 'heading', 'attributes', 'imported'],
]

function track(rows: unknown[][], gaps: { from: string; to: string }[] = []) {
  return trackOf({
    columns: COLUMNS,
    rows,
    gaps,
    bounds: null,
    total: rows.length,
    shown: rows.length,
    toleranceMetres: 0,
    distanceMetres: 0,
    movingSeconds: 0,
    maxSpeed: null,
  })
}

describe('a track', () => {
  test('a track reads its values by column name; null means unknown', () => {
    const { points } = track([
      [at(0), 10, 20, null, 0],
      [at(10), 10, 20, 7.5, null],
    ])
    expect(points[0]).toMatchObject({ latitude: 10, longitude: 20, speed: undefined, heading: 0 })
    expect(points[1]).toMatchObject({ speed: 7.5, heading: undefined, after: undefined })
  })

  test('a track has the attributes of its points, and lists the ones with numbers', () => {
    const { points } = track([
      [at(0), 10, 20, null, null, { zeta: 1, ignition: true, fuel: 'full' }, true],
      [at(10), 10, 20, null, null, { fuel: 0 }, null],
      [at(20), 10, 20, null, null, null, null],
    ])
    expect(points.map(({ isImported }) => isImported)).toEqual([true, false, false])
    expect(points.map(({ attributes }) => attributes['fuel'])).toEqual(['full', 0, undefined])
    expect(numericAttributes(points)).toEqual(['fuel', 'zeta'])
  })

  test('a track computes a speed from the distance where none was reported, but not across a gap', () => {
    const { points } = track(
      [
        [at(0), 0, 0, null, null],
        [at(100), 0, 0.01, null, null],
        [at(9_000), 0, 0.5, null, null],
      ],
      [{ from: at(100), to: at(9_000) }],
    )
    expect(points[1]?.speed).toBeCloseTo(11.12, 1)
    expect(points[2]).toMatchObject({ speed: undefined, after: 'gap' })
  })

  test('a track continues through a silence of an hour, and has a gap after a longer one or a leap', () => {
    const ends = [3_600, 3_601, 26 * 60]
    const after = ends.map((seconds) => {
      const degrees = seconds === 26 * 60 ? 5 : 0.5
      const { points } = track(
        [
          [at(0), 0, 0, null, null],
          [at(seconds), 0, degrees, null, null],
        ],
        [{ from: at(0), to: at(seconds) }],
      )
      const [first] = points
      const halfway = positionAlong(points, (first?.at ?? 0) + seconds * 500)
      return [points[1]?.after, points[1]?.speed, ((halfway?.x ?? 0) - 0.5) * 360]
    })
    expect(after).toEqual([
      ['silence', expect.closeTo(15.44, 1), expect.closeTo(0.25)],
      ['gap', undefined, expect.closeTo(0)],
      ['gap', undefined, expect.closeTo(0)],
    ])
  })

  test('a track interpolates between two points, but not across a gap', () => {
    const { points } = track(
      [
        [at(0), 0, 0, null, null],
        [at(10), 0, 10, null, null],
        [at(1_000), 0, 90, null, null],
      ],
      [{ from: at(10), to: at(1_000) }],
    )
    const [first, second] = points
    expect(positionAlong(points, (first?.at ?? 0) + 5_000)?.x).toBeCloseTo(0.5 + 5 / 360)
    expect(positionAlong(points, (second?.at ?? 0) + 500_000)?.x).toBe(second?.x)
    expect(positionAlong(points, 0)?.x).toBe(first?.x)
    expect(positionAlong([], 0)).toBeUndefined()
  })

  test('a track goes the short way across 180°', () => {
    const { points } = track([
      [at(0), 0, 179, null, null],
      [at(10), 0, -179, null, null],
    ])
    const middle = positionAlong(points, (points[0]?.at ?? 0) + 5_000)?.x ?? 0.5
    expect(Math.min(middle, 1 - middle)).toBeCloseTo(0, 6)
  })

  test('the last point before a time is found', () => {
    const { points } = track([0, 10, 20].map((s) => [at(s), 0, 0, null, null]))
    const begin = points[0]?.at ?? 0
    expect([-1, 0, 9_999, 10_000, 99_999].map((ms) => pointAt(points, begin + ms))).toEqual([
      0, 0, 0, 1, 2,
    ])
  })
})

describe('a track of years', () => {
  const query = (from: string, to: string) =>
    partsOfTrack({ from: Date.parse(from), to: Date.parse(to) })

  test('is requested in parts of at most 400 days, without a seam and with the same number of points in all', () => {
    const year = query('2025-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')
    expect(year).toEqual([
      { from: '2025-01-01T00:00:00.000Z', to: '2026-01-01T00:00:00.000Z', points: 2_000 },
    ])
    const parts = query('2020-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')
    expect(parts).toHaveLength(6)
    for (const [n, { from, to, points }] of parts.entries()) {
      expect(Date.parse(to) - Date.parse(from)).toBeLessThanOrEqual(400 * 86_400_000)
      expect(from).toBe(parts[n - 1]?.to ?? '2020-01-01T00:00:00.000Z')
      expect(points).toBe(333)
    }
    expect(parts.at(-1)?.to).toBe('2026-01-01T00:00:00.000Z')
    expect(query('1970-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')[0]?.points).toBe(100)
  })

  test('joins its parts, with the distance between them unless it is unknown', () => {
    const first = track([[at(0), 0, 0, null, null]])
    const soon = track([[at(100), 0, 0.01, null, null]])
    const late = track([[at(9_000), 0, 0.5, null, null]])
    const joined = joinTracks([
      { ...first, toleranceMetres: 3, maxSpeed: 5 },
      track([]),
      { ...soon, maxSpeed: 9 },
      late,
    ])
    expect(joined).toMatchObject({ total: 3, toleranceMetres: 3, maxSpeed: 9 })
    expect(joined.points.map(({ after }) => after)).toEqual([undefined, undefined, 'gap'])
    expect(joined.points.map(({ speed }) => speed)).toEqual([
      ...[undefined, expect.closeTo(11.12, 1), undefined],
    ])
    expect(joinTracks([first])).toEqual(first)
  })
})

test('speeds of any size have averages, and do not affect points more than a minute away', () => {
  const speeds = [Number.MAX_VALUE, 1e308, 1e308, 5, 5, 5, 5]
  const { points } = track(speeds.map((speed, index) => [at(index * 40), 0, 0, speed, 0]))
  const smoothed = smoothSpeeds(points)
  expect(smoothed.every((speed) => Number.isFinite(speed))).toBe(true)
  expect(smoothed.slice(4)).toEqual([5, 5, 5])
})

test('speeds are averaged over the minute around each point, but not across a silence', () => {
  const speeds = [0, 30, 0, 30, 0, undefined, 90]
  const { points } = track(
    speeds.map((speed, index) => [at(index * 20), 0, 0, speed ?? null, 0]),
    [{ from: at(100), to: at(120) }],
  )
  const smoothed = smoothSpeeds(points)
  expect(smoothed.slice(0, 4)).toEqual([15, 10, 20, 10])
  expect(smoothed.slice(5)).toEqual([0, 90])
  const measured = points.map((point) => ({ ...point, speed: undefined }))
  expect(smoothSpeeds(measured)).toEqual(speeds.map(() => undefined))
})
