import { SILENCE } from '../../../schemas/devices/liveness.ts'
import { LONGEST_STEP_MS, LeapFilter } from '../../../schemas/geo/leap-filter.ts'
import { endOfTurn } from '../../../runtime/end-of-turn.ts'
import type { TrackRow, TrackStep } from '../../../schemas/devices/read-models.ts'
import type { Store } from '../../../store/store.ts'
import { Bounds } from '../../../schemas/geo/bounds.ts'
import type { Coordinates } from '../../../schemas/geo/distance.ts'
import { earthPointOf, type EarthPoint } from '../../../schemas/geo/earth-point.ts'
import { ThinnedTrack } from './thinned-track.ts'
import { TrackTotals } from '../../../schemas/geo/track-totals.ts'

/** Records in memory at a time, besides the points in the result. */
export const READ_AT_ONCE = 1_000

/** The number of points that are read at a time with all their attributes. */
const SHOWN_AT_ONCE = 250

/**
 * Reads a device's track from `from` to `to`, page by page, into totals and at most `points`
 * points. A silence after which a device counts as offline is a gap, by its expected interval or,
 * without one, by the usual interval of the first page; so is every step whose path is unknown. A
 * single record that jumps away and is back at the next is omitted. With `within`, only points in
 * that part are returned. Stops early when `isWanted` returns false.
 *
 * Full records are read only for the returned points: on a long track, most of the time is spent on
 * transferring values from the database.
 */
export async function readTrack(
  { points, expectedIntervalSeconds, within, ...range }: TrackQuery,
  { store, isWanted }: { store: Pick<Store, 'pageTrack'>; isWanted: () => boolean },
): Promise<ReadTrack> {
  let page = await read()
  const gapMs = gapAfterMs(page, expectedIntervalSeconds)
  const thinned = new ThinnedTrack<TrackStep>({ limit: points, gapMs })
  const totals = new TrackTotals()
  const bounds = new Bounds()
  let total = 0
  const breaks = new Set<string>()
  const part =
    within &&
    new PartOfTrack<Passed>(within, ({ step, place, isLeap }, begins) => {
      if (begins) breaks.add(step.recordId)
      thinned.add(step, step.timestamp, place, isLeap || begins)
    })
  const leaps = new LeapFilter<Located>(({ timestamp, place, step }) => {
    const { latitude, longitude } = step
    bounds.add(latitude, longitude)
    const isLeap = totals.add(step, place)
    if (part === undefined) thinned.add(step, timestamp, place, isLeap)
    else part.add({ latitude, longitude, step, place, isLeap })
  })
  for (;;) {
    for (const step of page) {
      const { timestamp, latitude, longitude } = step
      leaps.add({ timestamp, place: earthPointOf(latitude, longitude), step })
    }
    total += page.length
    const last = page.at(-1)
    if (last === undefined || page.length < READ_AT_ONCE || !isWanted()) {
      leaps.end()
      return { total, thinned, totals, bounds, breaks }
    }
    // Otherwise one long track would block all other requests until it ends.
    await endOfTurn()
    page = await read(last)
  }

  function read(after?: TrackStep): Promise<TrackStep[]> {
    return store.pageTrack({ ...range, limit: READ_AT_ONCE, ...(after && { after }) })
  }
}

type Passed = Coordinates & {
  readonly step: TrackStep
  readonly place: EarthPoint
  readonly isLeap: boolean
}

type Located = {
  readonly timestamp: number
  readonly place: EarthPoint
  readonly step: TrackStep
}

/**
 * The silence, in milliseconds, that counts as a gap in a track: the device counts as offline, by
 * its expected interval or else by the usual interval of these first steps, or its path is unknown.
 */
export function gapAfterMs(
  steps: readonly TrackStep[],
  expectedIntervalSeconds: number | undefined,
): number {
  const { intervals, leastMs } = SILENCE.idle
  const usualMs = (expectedIntervalSeconds ?? 0) * 1_000 || medianInterval(steps)
  return Math.min(Math.max(intervals * usualMs, leastMs), LONGEST_STEP_MS)
}

/** The median time between records, in milliseconds. */
function medianInterval(steps: readonly TrackStep[]): number {
  const intervals = steps
    .slice(1)
    .map(({ timestamp }, n) => timestamp - (steps[n]?.timestamp ?? timestamp))
    .filter((ms) => ms > 0)
    .sort((a, b) => a - b)
  return intervals[intervals.length >> 1] ?? 0
}

/** Reads the points of the result, except points erased in the meantime. */
export async function* readTrackPoints(
  { recordIds: all, ...device }: Parameters<Store['findTrackPoints']>[0],
  store: Pick<Store, 'findTrackPoints'>,
): AsyncGenerator<readonly TrackRow[], void> {
  for (let at = 0; at < all.length; at += SHOWN_AT_ONCE) {
    const recordIds = all.slice(at, at + SHOWN_AT_ONCE)
    yield await store.findTrackPoints({ ...device, recordIds })
  }
}

export type ReadTrack = {
  /** All records, including those omitted. */
  readonly total: number
  readonly thinned: ThinnedTrack<TrackStep>
  readonly totals: TrackTotals
  readonly bounds: Bounds
  /** The records before which the track was outside the bounds. */
  readonly breaks: ReadonlySet<string>
}

export type TrackQuery = {
  readonly accountId: string
  readonly deviceId: string
  readonly from: number
  readonly to: number
  readonly points: number
  readonly expectedIntervalSeconds?: number | undefined
  /** Only the part of the track within the bounds is returned. */
  readonly within?: MapBounds | undefined
}

/** West above east crosses the 180th meridian. */
export type MapBounds = {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/**
 * Passes on the records of a track within the bounds, and the record before and after each such
 * part, so that its lines reach the edge.
 */
class PartOfTrack<Step extends Coordinates> {
  readonly #bounds: MapBounds
  readonly #take: (step: Step, begins: boolean) => void
  /** The last record, if it was outside and not passed on. */
  #outside: Step | undefined
  #isInside = false
  #hasPart = false

  /**
   * @param take `begins`: between this record and the previous one passed on, the track was
   * outside.
   */
  constructor(bounds: MapBounds, take: (step: Step, begins: boolean) => void) {
    this.#bounds = bounds
    this.#take = take
  }

  add(step: Step): void {
    if (isWithin(this.#bounds, step)) {
      if (this.#outside !== undefined) this.#begin(this.#outside)
      this.#outside = undefined
      this.#isInside = true
      this.#take(step, false)
      this.#hasPart = true
    } else if (this.#isInside) {
      this.#isInside = false
      this.#take(step, false)
    } else this.#outside = step
  }

  #begin(step: Step): void {
    this.#take(step, this.#hasPart)
  }
}

function isWithin({ west, south, east, north }: MapBounds, place: Coordinates): boolean {
  const { latitude, longitude } = place
  if (latitude < south || latitude > north) return false
  return west <= east
    ? longitude >= west && longitude <= east
    : longitude >= west || longitude <= east
}
