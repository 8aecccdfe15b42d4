import { describe, expect, test } from '@jest/globals'
import {
  fullBarDistance,
  episodeAt,
  episodesCsv,
  readEpisodes,
  sumOfDays,
  totalsByDay,
  totalsSince,
  foldShortMoves,
} from '../../../console/core/trips.ts'

const position = { latitude: 48.2, longitude: 16.4 }
const place = { name: '=1+1 "Depot"', geofenceId: 'geofence-1', distanceMetres: 0 }
const time = (text: string) => `2026-11-${text}:00.000Z`
const stop = (from: string, to: string) => ({
  kind: 'stop' as const,
  from: time(from),
  to: time(to),
  open: null,
  records: 9,
  position,
  place,
})
const trip = (from: string, to: string, distanceMetres: number) => ({
  kind: 'trip' as const,
  from: time(from),
  to: time(to),
  open: null,
  records: 9,
  distanceMetres,
  movingSeconds: 60,
  maxSpeed: null,
  start: { ...position, place },
  end: { ...position, place: null },
})
const DAYS = [
  trip('21T23:50', '22T00:20', 9_000),
  stop('22T00:20', '22T08:00'),
  trip('22T08:00', '22T09:00', 1_000),
  trip('22T11:00', '22T12:00', 2_000),
  trip('23T08:00', '23T09:00', 4_000),
]

test('between trips and stops that do not meet there is a gap', () => {
  const kinds = readEpisodes(DAYS).map(({ kind }) => kind)
  expect(kinds).toEqual(['trip', 'stop', 'trip', 'gap', 'trip', 'gap', 'trip'])
  expect(readEpisodes(DAYS)[3]).toEqual({
    kind: 'gap',
    from: Date.parse(time('22T09:00')),
    to: Date.parse(time('22T11:00')),
  })
  expect(readEpisodes([])).toEqual([])
})

test('a trip starts and ends at its stops, as the rows above and below it show', () => {
  const [before, , after] = readEpisodes(DAYS)
  expect([before, after]).toMatchObject([
    { end: { place } },
    { start: { place }, end: { place: null } },
  ])
})

test('a time belongs to the trip, stop or gap in progress then', () => {
  const kindAt = (text: string) => episodeAt(readEpisodes(DAYS), Date.parse(time(text)))?.kind
  expect(kindAt('22T00:19')).toBe('trip')
  expect(kindAt('22T00:20')).toBe('stop')
  expect(kindAt('22T10:00')).toBe('gap')
  expect(kindAt('23T09:00')).toBeUndefined()
})

test('a trip counts for the day on which it started, in the zone', () => {
  const span = { first: '2026-11-22', last: '2026-11-24' }
  const totals = (zone: string) =>
    totalsByDay(readEpisodes(DAYS), span, zone).map((day) => [day.trips, day.distanceMetres])
  expect(totals('UTC')).toEqual([
    [2, 3_000],
    [1, 4_000],
    [0, 0],
  ])
  expect(totals('Europe/Vienna')[0]).toEqual([3, 12_000])
})

test('the totals of a day are the sums over the listed trips that started on it', () => {
  expect(totalsSince(readEpisodes(DAYS), Date.parse(time('22T00:00')))).toEqual({
    trips: 3,
    distanceMetres: 7_000,
    lastedMs: 3 * 3_600_000,
  })
  const [day] = totalsByDay(readEpisodes(DAYS), { first: '2026-11-22', last: '2026-11-22' }, 'UTC')
  expect(day).toEqual({
    day: '2026-11-22',
    trips: 2,
    distanceMetres: 3_000,
    lastedMs: 2 * 3_600_000,
  })
})

test('a sum over days is complete once each day is loaded with all its records', () => {
  const counts = new Map(
    ['30', '01', '02', '03'].map((day, n) => [`2026-0${n ? 5 : 4}-${day}`, { count: n }]),
  )
  const span = { first: '2026-05-01', last: '2026-05-02' }
  const known = (...days: readonly (readonly [string, number])[]) =>
    new Map(days.map(([day, count]) => [day, { count, trips: 1, distanceMetres: 5, lastedMs: 9 }]))
  const sum = (trips: number, isWhole: boolean) => ({
    trips,
    distanceMetres: 5 * trips,
    lastedMs: 9 * trips,
    isWhole,
  })
  const of = (...days: readonly (readonly [string, number])[]) =>
    sumOfDays(span, counts, known(...days))
  expect(of()).toEqual(sum(0, false))
  expect(of(['2026-05-01', 1], ['2026-05-03', 3])).toEqual(sum(1, false))
  expect(of(['2026-05-01', 1], ['2026-05-02', 1])).toEqual(sum(2, false))
  expect(of(['2026-05-01', 1], ['2026-05-02', 2])).toEqual(sum(2, true))
})

test('CSV has a line for each trip, stop and gap with place names, and empty cells for unknown values', () => {
  const [title, ...lines] = episodesCsv(readEpisodes(DAYS.slice(1, 4))).split('\r\n')
  expect(title).toMatch(/^kind,from,to,seconds,distanceMetres/)
  const named = `"'=1+1 ""Depot"""`
  expect(lines).toEqual([
    `stop,${time('22T00:20')},${time('22T08:00')},27600,,,,48.2,16.4,48.2,16.4,${named},${named}`,
    `trip,${time('22T08:00')},${time('22T09:00')},3600,1000,60,,48.2,16.4,48.2,16.4,${named},`,
    `gap,${time('22T09:00')},${time('22T11:00')},7200,,,,,,,,,`,
    `trip,${time('22T11:00')},${time('22T12:00')},3600,2000,60,,48.2,16.4,48.2,16.4,${named},`,
    '',
  ])
})

test('CSV has the stays in geofences among the trips, by their start', () => {
  const at = (text: string) => Date.parse(time(text))
  const visits = [
    { geofenceId: 'yard', name: '=Yard', from: at('22T08:12'), to: at('22T10:22') },
    { geofenceId: 'port', name: 'Port', from: undefined, to: at('22T10:30') },
    { geofenceId: 'home', name: 'Home', from: at('22T11:30'), to: undefined },
  ]
  const [, ...lines] = episodesCsv(readEpisodes(DAYS.slice(1, 4)), visits).split('\r\n')
  expect(lines.map((line) => line.split(',')[0])).toEqual([
    'stop',
    'trip',
    'visit',
    'gap',
    'visit',
    'trip',
    'visit',
    '',
  ])
  expect(lines.filter((line) => line.startsWith('visit'))).toEqual([
    `visit,${time('22T08:12')},${time('22T10:22')},7800,,,,,,,,"'=Yard","'=Yard"`,
    `visit,,${time('22T10:30')},,,,,,,,,"Port","Port"`,
    `visit,${time('22T11:30')},,,,,,,,,,"Home","Home"`,
  ])
})

describe('short moves', () => {
  const end = { latitude: 0, longitude: 0, place: null }
  const move = (from: number, distanceMetres: number) => ({
    kind: 'trip' as const,
    from,
    to: from + 60_000,
    open: null,
    distanceMetres,
    movingSeconds: 60,
    maxSpeed: 1,
    start: end,
    end,
  })
  const stop = (from: number, minutes: number) => ({
    kind: 'stop' as const,
    from,
    to: from + minutes * 60_000,
    open: null,
    position: { latitude: 0, longitude: 0 },
    place: null,
  })

  test('that follow each other form one row, with the stops between them', () => {
    const walks = [move(1, 80), stop(2, 10), move(3, 120), stop(4, 6), move(5, 60)]
    const day = [move(0, 9_000), ...walks, stop(6, 90), move(7, 12_000)]
    const rows = foldShortMoves(day)
    expect(rows.map(({ kind }) => kind)).toEqual(['trip', 'walks', 'stop', 'trip'])
    expect(rows[1]).toMatchObject({ trips: 3, distanceMetres: 260, from: 1, episodes: walks })
  })

  test('are walks only if none was faster than running', () => {
    const day = (maxSpeed: number | undefined, movingSeconds: number) =>
      [move(0, 340), stop(1, 10), { ...move(2, 380), maxSpeed, movingSeconds }] as const
    const isOnFoot = (...args: Parameters<typeof day>) => {
      const [row] = foldShortMoves(day(...args))
      return row?.kind === 'walks' && row.isOnFoot
    }
    expect(isOnFoot(3.5, 60)).toBe(true)
    expect(isOnFoot(13, 60)).toBe(false)
    expect(isOnFoot(undefined, 300)).toBe(true)
    expect(isOnFoot(undefined, 40)).toBe(false)
  })

  test('have their own rows if isolated, or separated by a long stop', () => {
    const day = [move(0, 80), stop(1, 45), move(2, 80), stop(3, 5), move(4, 5_000)]
    expect(foldShortMoves(day)).toEqual(day)
  })
})

test('one flight does not shrink the other bars to dots, and the longest usual trip fills its bar', () => {
  expect(fullBarDistance([0, 900_000, 1_000_000, 1_100_000, 9_000_000])).toBe(4_400_000)
  expect(fullBarDistance([10, 20, 30])).toBe(30)
  expect(fullBarDistance([0, 0])).toBe(1)
})
