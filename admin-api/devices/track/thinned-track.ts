import { LeastFirst } from './least-first.ts'
import { length, type EarthPoint } from '../../../schemas/geo/earth-point.ts'

const NONE = -1

/** Two successive records with a gap between them; both are retained. */
type Gap = { readonly from: number; readonly to: number }

/**
 * Reduces a track of any length to at most `limit` records, using memory for only that many, by
 * SQUISH-E (Muckell and others, 2013): when there is one record too many, it drops the record whose
 * absence changes the track least, at the time of each dropped record, including the deviation from
 * earlier drops around it. Both ends of the track are retained, and both ends of its longest gaps.
 *
 * Each retained record has a number, and its values are in arrays of numbers, which takes a third
 * of the time of one object per record.
 */
export class ThinnedTrack<Kept> {
  /** The maximum distance of any record from the thinned track at its time, in metres. */
  tolerance = 0
  total = 0
  readonly #limit: number
  readonly #records: Kept[] = []
  readonly #times: Float64Array
  readonly #xs: Float64Array
  readonly #ys: Float64Array
  readonly #zs: Float64Array
  readonly #before: Int32Array
  readonly #after: Int32Array
  /** The largest priority with which a neighbouring record was dropped. */
  readonly #carried: Float64Array
  /** The number of gaps that end at the record: if there are any, it is not dropped. */
  readonly #gapEnds: Int32Array
  /** The maximum deviation of the thinned track if the record were dropped too. */
  readonly #removable: LeastFirst
  readonly #gapMs: number
  /** The minimum length of a gap; it grows when there are too many gaps. */
  #leastGapMs = 0
  #gaps: Gap[] = []
  #first = NONE
  #last = NONE
  /** The number of the last record dropped. */
  #free = NONE

  /**
   * Silences longer than `gapMs` and jumps are gaps; if there are too many, only the longest are.
   */
  constructor({ limit, gapMs }: { limit: number; gapMs: number }) {
    const size = limit + 1
    this.#limit = limit
    this.#gapMs = gapMs
    this.#times = new Float64Array(size)
    this.#xs = new Float64Array(size)
    this.#ys = new Float64Array(size)
    this.#zs = new Float64Array(size)
    this.#before = new Int32Array(size)
    this.#after = new Int32Array(size)
    this.#carried = new Float64Array(size)
    this.#gapEnds = new Int32Array(size)
    this.#removable = new LeastFirst(size)
  }

  /**
   * Adds a record; records come in the order of time.
   *
   * @param isLeap whether the distance from the previous record is too long to have been driven.
   */
  add(record: Kept, timestamp: number, place: EarthPoint, isLeap = false): void {
    const point = this.#free === NONE ? this.#records.length : this.#free
    const before = this.#last
    this.#records[point] = record
    this.#times[point] = timestamp
    this.#xs[point] = place.x
    this.#ys[point] = place.y
    this.#zs[point] = place.z
    this.#before[point] = before
    this.#after[point] = NONE
    this.#carried[point] = 0
    this.#gapEnds[point] = 0
    this.#last = point
    this.total += 1
    if (before === NONE) this.#first = point
    else {
      this.#after[before] = point
      const ms = this.#msBetween(before, point)
      if ((isLeap || ms > this.#gapMs) && ms > this.#leastGapMs) {
        this.#mark({ from: before, to: point })
      }
      this.#rank(before)
    }
    if (this.total > this.#limit) this.#leaveOut()
  }

  records(): Kept[] {
    const records: Kept[] = []
    for (let point = this.#first; point !== NONE; point = this.#after[point] as number) {
      records.push(this.#record(point))
    }
    return records
  }

  /** The last record before each gap, and the first after it. */
  gaps(): { from: Kept; to: Kept }[] {
    return this.#gaps.map(({ from, to }) => ({ from: this.#record(from), to: this.#record(to) }))
  }

  #mark(gap: Gap): void {
    this.#gaps.push(gap)
    this.#countGapEnds(gap, 1)
    // Leaves at least every other record removable.
    if (this.#gaps.length <= this.#limit / 4) return
    const ms = ({ from, to }: Gap) => this.#msBetween(from, to)
    const lengths = this.#gaps.map(ms).sort((a, b) => a - b)
    this.#leastGapMs = lengths[lengths.length >> 1] ?? this.#leastGapMs
    const dropped = this.#gaps.filter((one) => ms(one) <= this.#leastGapMs)
    this.#gaps = this.#gaps.filter((one) => ms(one) > this.#leastGapMs)
    for (const one of dropped) {
      this.#countGapEnds(one, -1)
      this.#rank(one.from)
      this.#rank(one.to)
    }
  }

  #countGapEnds({ from, to }: Gap, by: number): void {
    for (const point of [from, to]) this.#gapEnds[point] = (this.#gapEnds[point] ?? 0) + by
  }

  #leaveOut(): void {
    const { item: point, priority } = this.#removable.least ?? { item: NONE, priority: 0 }
    if (point === NONE) throw new Error('a track has nothing but ends of gaps')
    const before = this.#before[point] as number
    const after = this.#after[point] as number
    this.tolerance = Math.max(this.tolerance, priority)
    this.#removable.remove(point)
    this.#free = point
    this.#after[before] = after
    this.#before[after] = before
    this.#carry(before, priority)
    this.#carry(after, priority)
  }

  #carry(point: number, priority: number): void {
    if (priority > (this.#carried[point] as number)) this.#carried[point] = priority
    this.#rank(point)
  }

  /** Ranks a record among the removable ones, unless it must be retained. */
  #rank(point: number): void {
    const before = this.#before[point] as number
    const after = this.#after[point] as number
    if (before === NONE || after === NONE || this.#gapEnds[point] !== 0) {
      this.#removable.remove(point)
      return
    }
    const detour = this.#detour(point, before, after)
    this.#removable.set(point, (this.#carried[point] as number) + detour)
  }

  /** The distance of a point from the straight line between its neighbours, at its time. */
  #detour(point: number, before: number, after: number): number {
    const span = this.#msBetween(before, after)
    const part = span === 0 ? 0 : this.#msBetween(before, point) / span
    return length(
      measureDeviation(this.#xs, part, point, before, after),
      measureDeviation(this.#ys, part, point, before, after),
      measureDeviation(this.#zs, part, point, before, after),
    )
  }

  #msBetween(from: number, to: number): number {
    return (this.#times[to] as number) - (this.#times[from] as number)
  }

  #record(point: number): Kept {
    return this.#records[point] as Kept
  }
}

/**
 * The deviation of `point`, in one coordinate, from that fraction of the line from `before` to
 * `after`.
 */
function measureDeviation(
  coordinates: Float64Array,
  part: number,
  point: number,
  before: number,
  after: number,
): number {
  const from = coordinates[before] as number
  return (coordinates[point] as number) - from - part * ((coordinates[after] as number) - from)
}
