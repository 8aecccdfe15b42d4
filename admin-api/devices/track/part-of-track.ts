import type { Coordinates } from '../../../schemas/geo/distance.ts'

/** West above east crosses the 180th meridian. */
export type MapBounds = {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/**
 * Passes on those records of a track that are within the bounds, and the record before and after each such part, so that its
 * lines reach the edge.
 */
export class PartOfTrack<Step extends Coordinates> {
  readonly #bounds: MapBounds
  readonly #take: (step: Step, begins: boolean) => void
  /** The last record, if it was outside and not passed on. */
  #outside: Step | undefined
  #isInside = false
  #hasPart = false

  /** @param take `begins`: between this record and the one passed on before the track was elsewhere. */
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
