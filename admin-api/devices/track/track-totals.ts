import type { PositionRecord } from '../../../schemas/read-models.ts'
import { distance, placeOf, type Place } from './place.ts'

/** Slower than that, in metres per second, counts as standing still. */
const MOVING = 0.5

/** What a whole track amounts to; records are added in the order of time. */
export class TrackTotals {
  distanceMetres = 0
  movingMs = 0
  readonly #gapMs: number
  #last: { readonly record: PositionRecord; readonly place: Place } | undefined
  #reportedSpeed: number | undefined
  #computedSpeed: number | undefined
  readonly #bounds = new Bounds()

  constructor({ gapMs }: { gapMs: number }) {
    this.#gapMs = gapMs
  }

  add(record: PositionRecord): void {
    const last = this.#last
    const place = placeOf(record)
    this.#last = { record, place }
    this.#bounds.add(record)
    this.#reportedSpeed = greater(this.#reportedSpeed, record.speed)
    if (last === undefined) return
    const metres = distance(last.place, place)
    const ms = record.timestamp - last.record.timestamp
    this.distanceMetres += metres
    if (ms === 0 || ms > this.#gapMs) return
    const computed = metres / (ms / 1_000)
    this.#computedSpeed = greater(this.#computedSpeed, computed)
    const [a, b] = [last.record.speed, record.speed]
    const speed = a !== undefined && b !== undefined ? (a + b) / 2 : computed
    if (speed >= MOVING) this.movingMs += ms
  }

  /** In metres per second: of the speeds reported, else of those between records. */
  get maxSpeed(): number | null {
    return this.#reportedSpeed ?? this.#computedSpeed ?? null
  }

  get bounds() {
    return this.#bounds.box()
  }
}

/** The smallest box around points; its west is above its east where it crosses the 180th meridian. */
class Bounds {
  #south = Infinity
  #north = -Infinity
  readonly #across = { west: Infinity, east: -Infinity }
  /** The same with longitudes from 0 to 360. */
  readonly #acrossFrom0 = { west: Infinity, east: -Infinity }

  add({ latitude, longitude }: PositionRecord): void {
    this.#south = Math.min(this.#south, latitude)
    this.#north = Math.max(this.#north, latitude)
    for (const [across, at] of [
      [this.#across, longitude],
      [this.#acrossFrom0, longitude < 0 ? longitude + 360 : longitude],
    ] as const) {
      across.west = Math.min(across.west, at)
      across.east = Math.max(across.east, at)
    }
  }

  box() {
    if (this.#south > this.#north) return null
    const [plain, from0] = [this.#across, this.#acrossFrom0]
    const { west, east } = from0.east - from0.west < plain.east - plain.west ? from0 : plain
    return {
      west: west > 180 ? west - 360 : west,
      south: this.#south,
      east: east > 180 ? east - 360 : east,
      north: this.#north,
    }
  }
}

function greater(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Math.max(a, b)
}
