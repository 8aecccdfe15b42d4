import { guardFormulas } from '../../schemas/text/csv-formulas.ts'
import type { Coordinates } from '../../schemas/geo/distance.ts'
import type { components } from '../api/schema.ts'
import type { DayCounts, Span } from './span.ts'
import { nextDay, date } from './times.ts'
import { beginOf, type Visit } from './visits.ts'

type Place = components['schemas']['Place']
type ApiItem = components['schemas']['TripOrStop']
/** Ends at which an item extends beyond the displayed days. */
type OpenEnds = ApiItem['open']

export type Trip = {
  readonly kind: 'trip'
  readonly from: number
  readonly to: number
  readonly open: OpenEnds
  readonly distanceMetres: number
  readonly movingSeconds: number
  readonly maxSpeed: number | undefined
  readonly start: TripEnd
  readonly end: TripEnd
}

type TripEnd = Coordinates & { readonly place: Place }

type Stop = {
  readonly kind: 'stop'
  readonly from: number
  readonly to: number
  readonly open: OpenEnds
  readonly position: Coordinates
  readonly place: Place
}

/** A period without data. */
export type Gap = { readonly kind: 'gap'; readonly from: number; readonly to: number }

export type Episode = Trip | Stop | Gap

/** Trips and stops in order of time, and the gaps between them. */
export function readEpisodes(items: readonly ApiItem[]): readonly Episode[] {
  const episodes: Episode[] = []
  for (const item of items) {
    const episode = episodeOf(item)
    const before = episodes.at(-1)
    if (before !== undefined && before.to < episode.from) {
      episodes.push({ kind: 'gap', from: before.to, to: episode.from })
    }
    episodes.push(episode)
  }
  return episodes.map(betweenStops(episodes))
}

/**
 * A trip starts and ends where its stops are: their last and first records may be outside the named
 * place.
 */
function betweenStops(episodes: readonly Episode[]) {
  return (one: Episode, index: number): Episode => {
    if (one.kind !== 'trip') return one
    const [before, after] = [episodes[index - 1], episodes[index + 1]]
    const start = before?.kind === 'stop' ? { ...one.start, place: before.place } : one.start
    const end = after?.kind === 'stop' ? { ...one.end, place: after.place } : one.end
    return { ...one, start, end }
  }
}

/** The trip, stop or gap at a moment. */
export function episodeAt(episodes: readonly Episode[], at: number): Episode | undefined {
  return episodes.findLast(({ from, to }) => from <= at && at < to)
}

/** Movements within a yard or a house, with the stops between them. */
export type ShortMoves = {
  readonly kind: 'walks'
  readonly from: number
  readonly to: number
  readonly trips: number
  readonly distanceMetres: number
  /** Whether all movements were at most as fast as a running person. */
  readonly isOnFoot: boolean
  readonly episodes: readonly Episode[]
}

const SHORT_METRES = 500
/** Metres per second. */
const RUNNING = 4
/** A longer stop between two movements is a separate one. */
const SHORT_STOP_MS = 30 * 60_000

/** The episodes of a list, with consecutive short movements merged. */
export function foldShortMoves(episodes: readonly Episode[]): readonly (Episode | ShortMoves)[] {
  const rows: (Episode | ShortMoves)[] = []
  for (let at = 0; at < episodes.length; at += 1) {
    const run = runFrom(episodes, at)
    const trips = run.flatMap((one) => (one.kind === 'trip' ? one : []))
    const [first, last] = [run[0], run.at(-1)]
    const one = episodes[at]
    if (trips.length < 2 || first === undefined || last === undefined) {
      if (one !== undefined) rows.push(one)
      continue
    }
    const distanceMetres = trips.reduce((sum, trip) => sum + trip.distanceMetres, 0)
    rows.push({
      kind: 'walks',
      from: first.from,
      to: last.to,
      trips: trips.length,
      distanceMetres,
      isOnFoot: trips.every(
        ({ maxSpeed, ...trip }) =>
          (maxSpeed ?? trip.distanceMetres / Math.max(1, trip.movingSeconds)) <= RUNNING,
      ),
      episodes: run,
    })
    at += run.length - 1
  }
  return rows
}

/**
 * The short movements from an episode on, and the short stops between them, ending with a movement.
 */
function runFrom(episodes: readonly Episode[], at: number): readonly Episode[] {
  let end = at
  for (let next = at; next < episodes.length; next += 2) {
    const [move, stop] = [episodes[next], episodes[next + 1]]
    if (move === undefined || !isShort(move)) break
    end = next + 1
    if (stop?.kind !== 'stop' || stop.to - stop.from >= SHORT_STOP_MS) break
  }
  return episodes.slice(at, end)
}

function isShort(one: Episode): boolean {
  return one.kind === 'trip' && one.distanceMetres < SHORT_METRES
}

export type Totals = {
  readonly trips: number
  readonly distanceMetres: number
  /** Sum of the trips' durations, from start to end. */
  readonly lastedMs: number
}

const NONE: Totals = { trips: 0, distanceMetres: 0, lastedMs: 0 }

function plus(a: Totals, b: Totals): Totals {
  return {
    trips: a.trips + b.trips,
    distanceMetres: a.distanceMetres + b.distanceMetres,
    lastedMs: a.lastedMs + b.lastedMs,
  }
}

function totalsOf(one: Episode): Totals {
  if (one.kind !== 'trip') return NONE
  return { trips: 1, distanceMetres: one.distanceMetres, lastedMs: one.to - one.from }
}

/** Counts only trips that started at this time or later. */
export function totalsSince(episodes: readonly Episode[], from: number): Totals {
  return episodes
    .filter((one) => one.from >= from)
    .map(totalsOf)
    .reduce(plus, NONE)
}

export type DayTotals = Totals & { readonly day: string }

/** Totals of days, each with its number of records at the time of reading. */
export type KnownDays = ReadonlyMap<string, Totals & { readonly count: number }>

/** The trips that started on each day of a span; earlier trips count for no day. */
export function totalsByDay(
  episodes: readonly Episode[],
  { first, last }: Span,
  zone: string,
): readonly DayTotals[] {
  const totals = new Map<string, DayTotals>()
  for (let day = first; day <= last; day = nextDay(day, 1)) {
    totals.set(day, { day, ...NONE })
  }
  for (const one of episodes) {
    const day = date(one.from, zone)
    const before = totals.get(day)
    if (before !== undefined) totals.set(day, { day, ...plus(before, totalsOf(one)) })
  }
  return [...totals.values()]
}

/**
 * Adds up the known totals of a span; complete once all of its days with records are known with the
 * same counts.
 */
export function sumOfDays(
  { first, last }: Span,
  counts: DayCounts,
  known: KnownDays,
): Totals & { readonly isWhole: boolean } {
  let sum = NONE
  let isWhole = true
  for (const [day, { count }] of counts) {
    if (day < first || day > last || count === 0) continue
    const totals = known.get(day)
    if (totals?.count !== count) isWhole = false
    if (totals !== undefined) sum = plus(sum, totals)
  }
  return { ...sum, isWhole }
}

const COLUMNS = [
  ...['kind', 'from', 'to', 'seconds', 'distanceMetres', 'movingSeconds', 'maxSpeed'],
  ...['startLatitude', 'startLongitude', 'endLatitude', 'endLongitude', 'startPlace', 'endPlace'],
]

/**
 * A line for each trip, stop, gap and stay in a geofence, in order of start; times in UTC, speeds
 * in metres per second.
 */
export function episodesCsv(episodes: readonly Episode[], visits: readonly Visit[] = []): string {
  const stays = visits.map((visit) => ({ at: beginOf(visit), line: visitLine(visit) }))
  const lines = episodeLines(episodes)
    .concat(stays)
    .sort((one, other) => one.at - other.at)
    .map(({ line }) => line)
  return [COLUMNS.join(), ...lines, ''].join('\r\n')
}

function visitLine({ name, from, to }: Visit): string {
  const time = (ms: number | undefined) => (ms === undefined ? '' : new Date(ms).toISOString())
  const seconds = from === undefined || to === undefined ? '' : (to - from) / 1_000
  const place = nameCell(name)
  const unknown = Array.from({ length: 7 }, () => '')
  return ['visit', time(from), time(to), seconds, ...unknown, place, place].join()
}

function episodeLines(episodes: readonly Episode[]) {
  return episodes.map((one) => {
    const [start, end] =
      one.kind === 'trip'
        ? [one.start, one.end]
        : one.kind === 'stop'
          ? [endAtStop(one), endAtStop(one)]
          : []
    const ofTrip = one.kind === 'trip' ? one : undefined
    const cells = [
      ...[one.kind, new Date(one.from).toISOString(), new Date(one.to).toISOString()],
      ...[(one.to - one.from) / 1_000, ofTrip?.distanceMetres, ofTrip?.movingSeconds],
      ...[ofTrip?.maxSpeed, start?.latitude, start?.longitude, end?.latitude, end?.longitude],
      ...[cell(start?.place), cell(end?.place)],
    ]
    return { at: one.from, line: cells.join() }
  })
}

function endAtStop({ position, place }: Stop): TripEnd {
  return { ...position, place }
}

function cell(place: Place | undefined): string {
  return place ? nameCell(place.name) : ''
}

/** A name, quoted as RFC 4180 requires. */
function nameCell(name: string): string {
  return `"${guardFormulas(name).replaceAll('"', '""')}"`
}

function episodeOf(item: ApiItem): Trip | Stop {
  const { open } = item
  const times = { from: Date.parse(item.from), to: Date.parse(item.to), open }
  if (item.kind === 'stop') {
    const { position = NOWHERE, place = null } = item
    return { kind: 'stop', ...times, position, place }
  }
  const { distanceMetres = 0, movingSeconds = 0, maxSpeed, start = NOWHERE, end = NOWHERE } = item
  return {
    kind: 'trip',
    ...times,
    distanceMetres,
    movingSeconds,
    maxSpeed: maxSpeed ?? undefined,
    start,
    end,
  }
}

const NOWHERE = { latitude: 0, longitude: 0, place: null }

/** Returns the distance of a full bar: a single flight must not shrink all other bars to dots. */
export function fullBarDistance(distances: readonly number[]): number {
  const some = distances.filter((metres) => metres > 0).sort((a, b) => a - b)
  const usual = some[Math.floor(some.length / 2)] ?? 1
  return Math.min(some.at(-1) ?? 1, 4 * usual)
}
