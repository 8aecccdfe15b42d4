import type { TrackStep } from '../devices/read-models.ts'
import { isLeap, isPathless } from './leap-filter.ts'
import { distance, type EarthPoint } from './earth-point.ts'

/** Below this speed, in metres per second, a device counts as stationary. */
const MOVING = 0.5

/** A reported speed says nothing about a longer step; the distance does. */
const LONGEST_AT_SPEED_MS = 5 * 60_000

/** A record's time, coordinates and speed. */
export type TimedPlace = Pick<TrackStep, 'timestamp' | 'latitude' | 'longitude' | 'speed'>

/** A time span, in milliseconds: `from` is in it, `to` is not. */
export type TimeSpan = { readonly from: number; readonly to: number }

const ALWAYS: TimeSpan = { from: -Infinity, to: Infinity }

/** The totals of a whole track; records are added in order of time. */
export class TrackTotals {
  distanceMetres = 0
  movingMs = 0
  /** The parts of these within the span: for a step that crosses its end, proportional to time. */
  readonly inSpan = { distanceMetres: 0, movingMs: 0 }
  readonly #span: TimeSpan
  #last: TimedPlace | undefined
  #lastPlace: EarthPoint | undefined
  /** -1 if no speed was reported. */
  #reportedSpeed = -1
  #computedSpeed = -1
  #records = 0
  #withSpeed = 0

  constructor(span = ALWAYS) {
    this.#span = span
  }

  /** @returns whether the record is a jump from the previous one. */
  add(step: TimedPlace, place: EarthPoint): boolean {
    const last = this.#last
    const lastPlace = this.#lastPlace
    const { speed } = step
    this.#last = step
    this.#lastPlace = place
    this.#records += 1
    if (speed !== null) {
      this.#withSpeed += 1
      if (speed > this.#reportedSpeed) this.#reportedSpeed = speed
    }
    if (last === undefined || lastPlace === undefined) return false
    const metres = distance(lastPlace, place)
    const ms = step.timestamp - last.timestamp
    if (isPathless(metres, ms)) return isLeap(metres, ms)
    const share = computeShare(this.#span, last.timestamp, ms)
    this.distanceMetres += metres
    this.inSpan.distanceMetres += metres * share
    if (ms === 0) return false
    const computed = metres / (ms / 1_000)
    if (computed > this.#computedSpeed) this.#computedSpeed = computed
    const before = last.speed
    const isReported = before !== null && speed !== null && ms <= LONGEST_AT_SPEED_MS
    const usual = isReported ? (before + speed) / 2 : computed
    if (usual < MOVING) return false
    this.movingMs += ms
    this.inSpan.movingMs += ms * share
    return false
  }

  /**
   * In metres per second: from the reported speeds if at least half of the records have one, which
   * are more accurate, or else also from the speeds between records.
   */
  get maxSpeed(): number | null {
    const isReported = this.#withSpeed * 2 >= this.#records
    const max = isReported
      ? this.#reportedSpeed
      : Math.max(this.#reportedSpeed, this.#computedSpeed)
    return max >= 0 ? max : null
  }
}

function computeShare({ from, to }: TimeSpan, begin: number, ms: number): number {
  const end = begin + ms
  if (from <= begin && end < to) return 1
  if (ms === 0) return 0
  return Math.max(0, Math.min(to, end) - Math.max(from, begin)) / ms
}
