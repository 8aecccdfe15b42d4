import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { GpxError, readGpx, timeTrack } from '../../../commands/simulate/recorded-track.ts'
import { pointsOf, tracks } from '../../recorded-tracks.ts'
import fc from 'fast-check'

const fixture = readFileSync(join('test', 'fixtures', 'track.gpx'), 'utf8')

test('every track point comes through in the order of the document, exact and nothing else', () => {
  expect(readGpx(fixture)).toEqual([
    { latitude: 45.273518851, longitude: 13.7142099626, altitude: 211.15 },
    { latitude: 45.2734133229, longitude: 13.714188505, altitude: 0 },
    {
      latitude: 45.27,
      longitude: 13.71,
      altitude: -0.11438,
      time: Date.UTC(2020, 11, 18, 6, 16, 0, 250),
    },
    { latitude: 0, longitude: -179.999999999, time: Date.UTC(2020, 11, 18, 6, 16, 10) },
    {
      latitude: -89.9999999999,
      longitude: 13.7142099627,
      time: Date.UTC(2020, 11, 18, 6, 16, 20),
    },
    { latitude: 45.3, longitude: 13.8 },
    { latitude: 45.4, longitude: 13.9 },
  ])
})

test('a file that is not GPX, or has points without coordinates or a readable time, is rejected with the reason', () => {
  const track = (point: string) => `<gpx><trk><trkseg>${point}</trkseg></trk></gpx>`
  for (const [text, reason] of [
    ['', 'not well-formed XML'],
    ['<gpx><trk>', 'not well-formed XML'],
    ['latitude,longitude', 'not well-formed XML'],
    ['<kml/>', 'no track points'],
    [track(''), 'no track points'],
    [track('<trkpt lat="1" lon="2"/><trkpt lat="1"/>'), 'track point 2 has no lat and lon'],
    [track('<trkpt lat="1" lon="2"><time>today</time></trkpt>'), 'track point 1 has a time'],
  ] as const) {
    expect(() => readGpx(text)).toThrow(GpxError)
    expect(() => readGpx(text)).toThrow(reason)
  }
})

test.each(tracks.map((file) => [basename(file), file]))('%s reads like its text', (_, file) => {
  const points = readGpx(readFileSync(file, 'utf8'))
  expect(points.length).toBeGreaterThan(100)
  expect(points).toEqual(
    pointsOf(file).map(({ time, ...point }) => ({
      ...point,
      time: time === undefined ? undefined : Date.parse(time),
    })),
  )
})

test('there are recorded tracks with and without gaps in their times', () => {
  const untimed = tracks.map((file) => pointsOf(file).filter(({ time }) => time === undefined))
  expect(untimed.some(({ length }) => length === 0)).toBe(true)
  expect(untimed.some(({ length }) => length > 50)).toBe(true)
})

const NOW = Date.UTC(2026, 0, 1)
const T = Date.UTC(2020, 11, 18, 6)
const place = { latitude: 45, longitude: 13 }

function times(track: readonly (number | undefined)[], mode: 'original' | 'now' = 'original') {
  const points = track.map((time) => ({ ...place, ...(time !== undefined && { time }) }))
  return timeTrack(points, { times: mode, now: NOW }).map(({ time }) => time)
}

test('points without a time get times one second apart before the next point with a time', () => {
  expect(times([undefined, undefined, undefined, T, undefined, T + 60_000])).toEqual([
    T - 3000,
    T - 2000,
    T - 1000,
    T,
    T + 59_000,
    T + 60_000,
  ])
})

test('if there are more points without a time than seconds, their times reach back beyond the previous point', () => {
  expect(times([T, undefined, undefined, undefined, T + 2000])).toEqual([
    T,
    T - 1000,
    T,
    T + 1000,
    T + 2000,
  ])
})

test('points without a time at the end get times one second apart after the last point with a time', () => {
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
