import { projectToSurface, length, type EarthPoint } from './earth-point.ts'
import type { TripRecord } from './open-trip.ts'

const AXES = ['x', 'y', 'z'] as const

/** The numbers stored per record: time, latitude, longitude, speed, x, y, z, radius. */
const NUMBERS = 8
const LATITUDE = 1
const LONGITUDE = 2
const SPEED = 3
const X = 4
const Y = 5
const Z = 6
const RADIUS = 7
const FIRST_ROOM = 256

/**
 * The latest records that one stop could hold: along each axis, some point is within the radius of
 * all of them. Its start depends on these records alone, not on where reading started.
 *
 * There may be tens of thousands, so they are stored as numbers, in a fifth of the memory of
 * objects.
 */
export class StopWindow {
  readonly #edges = AXES.map((axis) => ({
    axis,
    /** The lower edges of the records' ranges on the axis, and the upper ones, negated. */
    lower: new GreatestOfWindow(),
    upper: new GreatestOfWindow(),
  }))
  #numbers = new Float64Array(FIRST_ROOM * NUMBERS)
  /** Indexes where the first record starts, and where the next one will start. */
  #first = 0
  #end = 0
  /** The number of records dropped so far: the index of the first one in the window. */
  start = 0

  add({ timestamp, latitude, longitude, speed, place, radius }: TripRecord): void {
    for (const { axis, lower, upper } of this.#edges) {
      lower.add(this.end, place[axis] - radius)
      upper.add(this.end, -place[axis] - radius)
    }
    if (this.#end === this.#numbers.length) this.#makeRoom()
    const numbers = this.#numbers
    const at = this.#end
    numbers[at] = timestamp
    numbers[at + LATITUDE] = latitude
    numbers[at + LONGITUDE] = longitude
    numbers[at + SPEED] = speed ?? NaN
    numbers[at + X] = place.x
    numbers[at + Y] = place.y
    numbers[at + Z] = place.z
    numbers[at + RADIUS] = radius
    this.#end += NUMBERS
  }

  /** Whether the records are too far apart for one stop. */
  get isTooWide(): boolean {
    return this.#edges.some(({ lower, upper }) => lower.greatest + upper.greatest > 0)
  }

  /** Removes the first record; the window must not be empty. */
  shift(): TripRecord {
    const first = this.#recordAt(this.#first)
    this.#first += NUMBERS
    this.start += 1
    this.#dropEdges()
    return first
  }

  clear(): void {
    this.start = this.end
    this.#first = 0
    this.#end = 0
    this.#dropEdges()
  }

  get length(): number {
    return (this.#end - this.#first) / NUMBERS
  }

  /** The index of the next record. */
  get end(): number {
    return this.start + this.length
  }

  /** NaN if there are no records. */
  get firstTime(): number {
    return this.#first === this.#end ? NaN : (this.#numbers[this.#first] as number)
  }

  get firstRecord(): TripRecord | undefined {
    return this.#first === this.#end ? undefined : this.#recordAt(this.#first)
  }

  get lastRecord(): TripRecord | undefined {
    return this.#first === this.#end ? undefined : this.#recordAt(this.#end - NUMBERS)
  }

  /** The point halfway between the records that are furthest apart on each axis. */
  get middle(): EarthPoint {
    const [x = 0, y = 0, z = 0] = this.#edges.map(
      ({ lower, upper }) => (lower.greatest - upper.greatest) / 2,
    )
    // Records around the whole earth, each accurate to a part of it, have no common point: any of
    // theirs will do.
    return projectToSurface({ x, y, z }) ?? this.#placeAt(this.#first)
  }

  /**
   * Number of records up to and including the first one too far from the centre; 0 if all are near.
   */
  get outlierAt(): number {
    const { x, y, z } = this.middle
    const numbers = this.#numbers
    for (let at = this.#first; at < this.#end; at += NUMBERS) {
      const metres = length(
        (numbers[at + X] as number) - x,
        (numbers[at + Y] as number) - y,
        (numbers[at + Z] as number) - z,
      )
      if (metres > (numbers[at + RADIUS] as number)) return (at - this.#first) / NUMBERS + 1
    }
    return 0
  }

  #recordAt(at: number): TripRecord {
    const [timestamp = 0, latitude = 0, longitude = 0] = this.#numbers.subarray(at, at + SPEED)
    const radius = this.#numbers[at + RADIUS] as number
    const speed = this.#numbers[at + SPEED] as number
    return {
      timestamp,
      latitude,
      longitude,
      speed: Number.isNaN(speed) ? null : speed,
      place: this.#placeAt(at),
      radius,
    }
  }

  #placeAt(at: number): EarthPoint {
    const [x = 0, y = 0, z = 0] = this.#numbers.subarray(at + X, at + RADIUS)
    return { x, y, z }
  }

  #makeRoom(): void {
    const kept = this.#numbers.subarray(this.#first, this.#end)
    const isMostlyFree = kept.length * 2 <= this.#numbers.length
    const numbers = isMostlyFree ? this.#numbers : new Float64Array(this.#numbers.length * 2)
    numbers.set(kept)
    this.#end = kept.length
    this.#first = 0
    this.#numbers = numbers
  }

  #dropEdges(): void {
    for (const { lower, upper } of this.#edges) {
      lower.dropBefore(this.start)
      upper.dropBefore(this.start)
    }
  }
}

/**
 * The maximum of the numbers in a moving window. It stores only numbers that can still become the
 * maximum, so that each is added and dropped once, in a window of any length.
 */
class GreatestOfWindow {
  #numbers: number[] = []
  #places: number[] = []
  #first = 0

  /** Adds a number at an index after all previous ones. */
  add(place: number, number: number): void {
    while (this.#numbers.length > this.#first && (this.#numbers.at(-1) as number) <= number) {
      this.#numbers.pop()
      this.#places.pop()
    }
    this.#numbers.push(number)
    this.#places.push(place)
  }

  /** Drops the numbers at indexes before this one. */
  dropBefore(place: number): void {
    while (this.#first < this.#places.length && (this.#places[this.#first] as number) < place) {
      this.#first += 1
    }
    if (this.#first < 1_000 || this.#first * 2 < this.#places.length) return
    this.#numbers = this.#numbers.slice(this.#first)
    this.#places = this.#places.slice(this.#first)
    this.#first = 0
  }

  /** -Infinity if the window is empty. */
  get greatest(): number {
    return this.#numbers[this.#first] ?? -Infinity
  }
}
