import { atSurface, type Place } from '../track/place.ts'
import { GreatestOfWindow } from './greatest-of-window.ts'
import { metresApart, type TripRecord } from './trip-record.ts'

const AXES = ['x', 'y', 'z'] as const

/**
 * The latest records that one stop could hold: along each axis, some place is within the radius of
 * all of them. Its start depends on these records alone, not on where reading began.
 */
export class StopWindow {
  readonly #edges = AXES.map((axis) => ({
    axis,
    /** The lower edges of the records' ranges on the axis, and the upper ones, negated. */
    lower: new GreatestOfWindow(),
    upper: new GreatestOfWindow(),
  }))
  #records: TripRecord[] = []
  #first = 0
  /** The number of records dropped so far: the place of the first one in the window. */
  start = 0

  /** @returns the records that are too far away from the new one; they have left the window. */
  add(record: TripRecord): TripRecord[] {
    const place = this.end
    for (const { axis, lower, upper } of this.#edges) {
      lower.add(place, record.place[axis] - record.radius)
      upper.add(place, -record.place[axis] - record.radius)
    }
    this.#records.push(record)
    const left: TripRecord[] = []
    while (this.#edges.some(({ lower, upper }) => lower.greatest + upper.greatest > 0)) {
      left.push(...this.drop(1))
    }
    return left
  }

  drop(count: number): TripRecord[] {
    const dropped = this.#records.slice(this.#first, this.#first + count)
    this.#first += dropped.length
    this.start += dropped.length
    for (const { lower, upper } of this.#edges) {
      lower.dropBefore(this.start)
      upper.dropBefore(this.start)
    }
    if (this.#first >= 1_000 && this.#first * 2 >= this.#records.length) {
      this.#records = this.#records.slice(this.#first)
      this.#first = 0
    }
    return dropped
  }

  clear(): TripRecord[] {
    return this.drop(this.#records.length - this.#first)
  }

  /** The place of the next record. */
  get end(): number {
    return this.start + this.#records.length - this.#first
  }

  get firstRecord(): TripRecord | undefined {
    return this.#records[this.#first]
  }

  /** The place in the middle between the records that are furthest apart on each axis. */
  get middle(): Place {
    const [x = 0, y = 0, z = 0] = this.#edges.map(
      ({ lower, upper }) => (lower.greatest - upper.greatest) / 2,
    )
    return atSurface({ x, y, z })
  }

  /** The number of records up to the first that is too far from the middle; 0 if none is. */
  get outlierAt(): number {
    const { middle } = this
    for (let at = this.#first; at < this.#records.length; at += 1) {
      const { place, radius } = this.#records[at] as TripRecord
      if (metresApart(place, middle) > radius) return at - this.#first + 1
    }
    return 0
  }
}
