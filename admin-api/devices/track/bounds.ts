const DEGREES = 360

/**
 * The smallest box around points, found without keeping them: the one that leaves out the widest range of longitudes
 * without a point. West is above east if the box crosses the 180th meridian. Ranges within one degree are not looked
 * for, so a box of more than 358 degrees may be a degree too wide.
 */
export class Bounds {
  #south = Infinity
  #north = -Infinity
  /** The least and the greatest longitude in each degree from the west on. */
  readonly #wests = new Float64Array(DEGREES).fill(Infinity)
  readonly #easts = new Float64Array(DEGREES).fill(-Infinity)

  add(latitude: number, longitude: number): void {
    const degree = Math.min(DEGREES - 1, Math.floor(longitude + 180))
    this.#south = Math.min(this.#south, latitude)
    this.#north = Math.max(this.#north, latitude)
    this.#wests[degree] = Math.min(this.#wests[degree] as number, longitude)
    this.#easts[degree] = Math.max(this.#easts[degree] as number, longitude)
  }

  box() {
    if (this.#south > this.#north) return null
    const taken = Array.from(this.#wests.keys()).filter((n) => this.#wests[n] !== Infinity)
    const [first = 0, last = 0] = [taken[0], taken.at(-1)]
    let [west, east] = [this.#wests[first] as number, this.#easts[last] as number]
    let widest = west + DEGREES - east
    for (const [n, degree] of taken.entries()) {
      const [before, after] = [this.#easts[degree], this.#wests[taken[n + 1] ?? -1]]
      if (before === undefined || after === undefined || after - before <= widest) continue
      widest = after - before
      west = after
      east = before
    }
    return { west, south: this.#south, east, north: this.#north }
  }
}
