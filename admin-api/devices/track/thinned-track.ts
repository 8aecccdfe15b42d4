import type { PositionRecord } from '../../../schemas/read-models.ts'
import { LeastFirst } from './least-first.ts'
import { deviation, placeOf, type Place } from './place.ts'

/** A kept record among its neighbours. */
type Point = {
  readonly record: PositionRecord
  readonly place: Place
  before: Point | undefined
  after: Point | undefined
  /** The largest priority with which a record next to it was left out. */
  carried: number
  /** How far the shown track would deviate at most if this one were left out too. */
  priority: number
  rank: number | undefined
  /** How many gaps end here: such a point is not left out. */
  gaps: number
}

type Gap = { readonly from: Point; readonly to: Point }

/**
 * At most `limit` records of a track of any length, in memory for that many, by SQUISH-E (Muckell
 * and others, 2013): when there is one too many, the record is left out whose absence changes the
 * track least, at the time of each record left out, counting what was left out around it before.
 * Both ends of the track are kept, and those of its longest gaps.
 */
export class ThinnedTrack {
  /** How far from the shown track any record is at its time, in metres, at most. */
  tolerance = 0
  total = 0
  readonly #limit: number
  readonly #removable = new LeastFirst<Point>()
  #gapMs: number
  #gaps: Gap[] = []
  #first: Point | undefined
  #last: Point | undefined
  #count = 0

  /** Longer silences than `gapMs` are gaps; when there are too many, only the longer ones are. */
  constructor({ limit, gapMs }: { limit: number; gapMs: number }) {
    this.#limit = limit
    this.#gapMs = gapMs
  }

  /** Records are added in the order of time. */
  add(record: PositionRecord): void {
    const point: Point = {
      ...{ record, place: placeOf(record), before: this.#last, after: undefined },
      ...{ carried: 0, priority: Infinity, rank: undefined, gaps: 0 },
    }
    const before = this.#last
    this.#first ??= point
    this.#last = point
    this.#count += 1
    this.total += 1
    if (before !== undefined) {
      before.after = point
      if (record.timestamp - before.record.timestamp > this.#gapMs) this.#mark(before, point)
      this.#rank(before)
    }
    if (this.#count > this.#limit) this.#leaveOut()
  }

  records(): PositionRecord[] {
    const records: PositionRecord[] = []
    for (let point = this.#first; point !== undefined; point = point.after) {
      records.push(point.record)
    }
    return records
  }

  /** The last record before each gap, and the first after it. */
  gaps(): { from: PositionRecord; to: PositionRecord }[] {
    return this.#gaps.map(({ from, to }) => ({ from: from.record, to: to.record }))
  }

  #mark(from: Point, to: Point): void {
    this.#gaps.push({ from, to })
    from.gaps += 1
    to.gaps += 1
    if (this.#gaps.length <= this.#limit / 4) return
    const lengths = this.#gaps.map(lengthOf).sort((a, b) => a - b)
    this.#gapMs = lengths[lengths.length >> 1] ?? this.#gapMs
    const dropped = this.#gaps.filter((gap) => lengthOf(gap) <= this.#gapMs)
    this.#gaps = this.#gaps.filter((gap) => lengthOf(gap) > this.#gapMs)
    for (const gap of dropped) {
      gap.from.gaps -= 1
      gap.to.gaps -= 1
      this.#rank(gap.from)
      this.#rank(gap.to)
    }
  }

  #leaveOut(): void {
    const point = this.#removable.takeLeast()
    if (point === undefined) return
    const { before, after, priority } = point
    this.tolerance = Math.max(this.tolerance, priority)
    this.#count -= 1
    if (before !== undefined) before.after = after
    if (after !== undefined) after.before = before
    for (const neighbour of [before, after]) {
      if (neighbour === undefined) continue
      neighbour.carried = Math.max(neighbour.carried, priority)
      this.#rank(neighbour)
    }
  }

  /** Puts a point in its place among those that may be left out, if it may. */
  #rank(point: Point): void {
    const { before, after } = point
    if (before === undefined || after === undefined || point.gaps > 0) {
      if (point.rank !== undefined) this.#removable.remove(point)
      return
    }
    point.priority = point.carried + detour(point, before, after)
    if (point.rank === undefined) this.#removable.put(point)
    else this.#removable.moved(point)
  }
}

/** How far it is from where the way between its neighbours would be at its time. */
function detour(point: Point, before: Point, after: Point): number {
  const start = before.record.timestamp
  const span = after.record.timestamp - start
  const part = span === 0 ? 0 : (point.record.timestamp - start) / span
  return deviation(point.place, before.place, after.place, part)
}

function lengthOf({ from, to }: Gap): number {
  return to.record.timestamp - from.record.timestamp
}
