import type { PolygonRing } from '../definitions/geofence.ts'

/** The parts of a circle; of each, only the lowest and the highest value are stored. */
const PARTS = 360

/**
 * The shortest arc of a circle that contains all values added, found without storing them: the one
 * that omits the widest gap. Gaps within one part are not considered, so an arc of all parts
 * but two may be one part too long.
 */
export class ShortestArc {
  readonly #least: number
  readonly #around: number
  readonly #firsts = new Float64Array(PARTS).fill(Infinity)
  readonly #lasts = new Float64Array(PARTS).fill(-Infinity)

  /** @param greatest the same value as `least`, once around. */
  constructor({ least, greatest }: { readonly least: number; readonly greatest: number }) {
    this.#least = least
    this.#around = greatest - least
  }

  add(place: number): void {
    const share = (place - this.#least) / this.#around
    const part = Math.min(PARTS - 1, Math.floor(share * PARTS))
    this.#firsts[part] = Math.min(this.#firsts[part] as number, place)
    this.#lasts[part] = Math.max(this.#lasts[part] as number, place)
  }

  /** The arc starts above its end if it crosses `greatest`. Undefined without values. */
  get ends(): { readonly begin: number; readonly end: number } | undefined {
    const taken = Array.from(this.#firsts.keys()).filter((n) => this.#firsts[n] !== Infinity)
    const [first, last] = [taken[0], taken.at(-1)]
    if (first === undefined || last === undefined) return undefined
    let [begin, end] = [this.#firsts[first] as number, this.#lasts[last] as number]
    let widest = begin + this.#around - end
    for (const [n, part] of taken.entries()) {
      const [before, after] = [this.#lasts[part], this.#firsts[taken[n + 1] ?? -1]]
      if (before === undefined || after === undefined || after - before <= widest) continue
      widest = after - before
      begin = after
      end = before
    }
    return { begin, end }
  }
}

/** The smallest box around points. West is above east if the box crosses the 180th meridian. */
export class Bounds {
  #south = Infinity
  #north = -Infinity
  readonly #longitudes = new ShortestArc({ least: -180, greatest: 180 })

  add(latitude: number, longitude: number): void {
    this.#south = Math.min(this.#south, latitude)
    this.#north = Math.max(this.#north, latitude)
    this.#longitudes.add(longitude)
  }

  box() {
    const ends = this.#longitudes.ends
    if (ends === undefined) return null
    return { west: ends.begin, south: this.#south, east: ends.end, north: this.#north }
  }
}

/** Shifts a longitude by full turns to within 180° of another. */
export function longitudeNear(other: number, longitude: number): number {
  return longitude + Math.round((other - longitude) / 360) * 360
}

/** A ring whose longitudes continue beyond ±180° instead of jumping at the 180th meridian. */
export function unwrapRing(ring: PolygonRing): PolygonRing {
  let before: number | undefined
  return ring.map(([longitude, latitude]) => {
    before = before === undefined ? longitude : longitudeNear(before, longitude)
    return [before, latitude]
  })
}
