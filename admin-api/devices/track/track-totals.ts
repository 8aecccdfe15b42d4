import { isLeap, isPathless } from '../../../schemas/unknown-path.ts'
import { distance, type Place } from './place.ts'

/** Below this speed, in metres per second, a device counts as standing still. */
const MOVING = 0.5

/** A reported speed says nothing about a longer step; the distance does. */
const LONGEST_AT_SPEED_MS = 5 * 60_000

/** The index of the speed in a step. */
const SPEED = 3

/** A record's time, place and speed; of its other fields, a `TrackStep` among them, nothing counts here. */
export type TimedPlace = readonly [
  timestamp: number,
  latitude: number,
  longitude: number,
  speed: number | null,
  ...others: unknown[],
]

/** The totals of a whole track; records are added in the order of time. */
export class TrackTotals {
  distanceMetres = 0
  movingMs = 0
  #last: TimedPlace | undefined
  #lastPlace: Place | undefined
  /** -1: none. */
  #reportedSpeed = -1
  #computedSpeed = -1
  readonly #bounds = new Bounds()

  /** @returns whether the record is a leap away from the previous one. */
  add(step: TimedPlace, place: Place): boolean {
    const last = this.#last
    const lastPlace = this.#lastPlace
    const speed = step[SPEED]
    this.#last = step
    this.#lastPlace = place
    this.#bounds.add(step[1], step[2])
    if (speed !== null && speed > this.#reportedSpeed) this.#reportedSpeed = speed
    if (last === undefined || lastPlace === undefined) return false
    const metres = distance(lastPlace, place)
    const ms = step[0] - last[0]
    if (isPathless(metres, ms)) return isLeap(metres, ms)
    this.distanceMetres += metres
    if (ms === 0) return false
    const computed = metres / (ms / 1_000)
    if (computed > this.#computedSpeed) this.#computedSpeed = computed
    const before = last[SPEED]
    const isReported = before !== null && speed !== null && ms <= LONGEST_AT_SPEED_MS
    const usual = isReported ? (before + speed) / 2 : computed
    if (usual >= MOVING) this.movingMs += ms
    return false
  }

  /** In metres per second: from the reported speeds, or else from the speeds between records. */
  get maxSpeed(): number | null {
    if (this.#reportedSpeed >= 0) return this.#reportedSpeed
    return this.#computedSpeed >= 0 ? this.#computedSpeed : null
  }

  get bounds() {
    return this.#bounds.box()
  }
}

/** The smallest box around points; its west is above its east if it crosses the 180th meridian. */
class Bounds {
  #south = Infinity
  #north = -Infinity
  #west = Infinity
  #east = -Infinity
  /** The same edge with longitudes from 0 to 360. */
  #westFrom0 = Infinity
  #eastFrom0 = -Infinity

  add(latitude: number, longitude: number): void {
    const from0 = longitude < 0 ? longitude + 360 : longitude
    this.#south = Math.min(this.#south, latitude)
    this.#north = Math.max(this.#north, latitude)
    this.#west = Math.min(this.#west, longitude)
    this.#east = Math.max(this.#east, longitude)
    this.#westFrom0 = Math.min(this.#westFrom0, from0)
    this.#eastFrom0 = Math.max(this.#eastFrom0, from0)
  }

  box() {
    if (this.#south > this.#north) return null
    const crosses = this.#eastFrom0 - this.#westFrom0 < this.#east - this.#west
    const [west, east] = crosses ? [this.#westFrom0, this.#eastFrom0] : [this.#west, this.#east]
    return {
      west: west > 180 ? west - 360 : west,
      south: this.#south,
      east: east > 180 ? east - 360 : east,
      north: this.#north,
    }
  }
}
