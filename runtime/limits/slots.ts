type SlotLimits = {
  /** All of them; absent: as many as the parties may have. */
  readonly most?: number
  /** The slots of one party. */
  readonly mostEach: number
}

/** Counts what the parties hold, without making anybody wait: see `Turns` for that. */
export class Slots {
  readonly #most: number
  readonly #mostEach: number
  readonly #taken = new Map<string, number>()
  #all = 0

  constructor({ most = Infinity, mostEach }: SlotLimits) {
    this.#most = most
    this.#mostEach = mostEach
  }

  /** Whether nobody has one. */
  get areFree(): boolean {
    return this.#all === 0
  }

  areTaken(party = ''): boolean {
    return this.#all >= this.#most || this.takenBy(party) >= this.#mostEach
  }

  takenBy(party: string): number {
    return this.#taken.get(party) ?? 0
  }

  /** Takes one even beyond the limits. Give it back once. */
  take(party = ''): void {
    this.#all += 1
    this.#taken.set(party, this.takenBy(party) + 1)
  }

  giveBack(party = ''): void {
    this.#all -= 1
    const left = this.takenBy(party) - 1
    if (left > 0) this.#taken.set(party, left)
    else this.#taken.delete(party)
  }
}
