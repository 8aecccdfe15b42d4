/** Frees a slot; calling it again has no effect. */
export type GiveBack = () => void

export type SlotLimits = {
  /** Maximum number of slots taken at the same time; by default only the parties' limits apply. */
  readonly most?: number
  /** Maximum number of slots of one party; by default `most`. */
  readonly mostEach?: number
  /** Maximum number of waiters; unlimited by default. */
  readonly waiting?: number
  /** Maximum number of waiters per party; by default `waiting`. */
  readonly waitingEach?: number
  /** The longest wait; unlimited by default. */
  readonly waitsMs?: number
  /** The error when the queue is full or the wait was too long. */
  readonly refusal?: () => Error
}

type Waiter = {
  readonly party: string
  readonly proceed: () => void
  readonly turnAway: () => void
}

/**
 * Limits how many things happen at the same time, in total and per party. Of the waiting parties,
 * the one with the fewest slots is next, and equal ones are served round-robin; when the queue is
 * full, the party with the most waiters loses one to a party with fewer.
 */
export class Slots {
  readonly #limits: Required<SlotLimits>
  readonly #taken = new Map<string, number>()
  /** Waiters by party; a party that gets a slot moves to the end. */
  readonly #lines = new Map<string, Waiter[]>()
  #all = 0
  #waiting = 0

  constructor({
    most = Infinity,
    mostEach = most,
    waiting = Infinity,
    waitingEach = waiting,
    waitsMs = Infinity,
    // Called only if one of these limits is set.
    refusal = () => new Error(),
  }: SlotLimits = {}) {
    this.#limits = { most, mostEach, waiting, waitingEach, waitsMs, refusal }
  }

  /** Whether no slot is taken or waited for. */
  get areFree(): boolean {
    return this.#all === 0
  }

  /** The number of slots taken by all parties. */
  get taken(): number {
    return this.#all
  }

  areTaken(party = ''): boolean {
    return this.#all >= this.#limits.most || this.takenBy(party) >= this.#limits.mostEach
  }

  takenBy(party: string): number {
    return this.#taken.get(party) ?? 0
  }

  waitersOf(party: string): number {
    return this.#lines.get(party)?.length ?? 0
  }

  /** Takes slots even beyond the limits. Free them once. */
  take(party = '', count = 1): void {
    this.#all += count
    this.#taken.set(party, this.takenBy(party) + count)
  }

  giveBack(party = '', count = 1): void {
    this.#all -= count
    const left = this.takenBy(party) - count
    if (left > 0) this.#taken.set(party, left)
    else this.#taken.delete(party)
    while (this.#waiting > 0 && this.#serveNext());
  }

  /** Takes a slot even beyond the limits. */
  hold(party = ''): GiveBack {
    this.take(party)
    return this.#givesBackOnce(party)
  }

  /** @throws the error from `refusal`. */
  async wait(party = ''): Promise<GiveBack> {
    // A slot is handed over directly: it is never free in between.
    if (this.areTaken(party)) await this.#queue(party)
    else this.take(party)
    return this.#givesBackOnce(party)
  }

  /** @throws the error from `refusal`. */
  async run<T>(task: () => Promise<T>, party = ''): Promise<T> {
    const giveBack = await this.wait(party)
    try {
      return await task()
    } finally {
      giveBack()
    }
  }

  #givesBackOnce(party: string): GiveBack {
    let isReturned = false
    return () => {
      if (!isReturned) this.giveBack(party)
      isReturned = true
    }
  }

  #queue(party: string): Promise<void> {
    const { waiting, waitingEach, waitsMs, refusal } = this.#limits
    const line = this.#lines.get(party) ?? []
    if (line.length >= waitingEach) throw refusal()
    if (this.#waiting >= waiting) this.#makeRoom(line.length)
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        party,
        proceed() {
          clearTimeout(timer)
          resolve()
        },
        turnAway: () => {
          clearTimeout(timer)
          this.#leave(waiter)
          reject(refusal())
        },
      }
      const timer = waitsMs === Infinity ? undefined : setTimeout(waiter.turnAway, waitsMs).unref()
      line.push(waiter)
      this.#lines.set(party, line)
      this.#waiting += 1
    })
  }

  #makeRoom(own: number): void {
    const longest = [...this.#lines.values()].reduce(
      (longer, line) => (line.length > longer.length ? line : longer),
      [],
    )
    if (longest.length <= own + 1) throw this.#limits.refusal()
    longest.at(-1)?.turnAway()
  }

  /** Gives a slot to the next waiter. False if no waiter may have one. */
  #serveNext(): boolean {
    const next = this.#nextWaiter()
    if (next === undefined) return false
    const { party } = next
    this.#leave(next)
    const waiters = this.#lines.get(party)
    if (waiters !== undefined) {
      this.#lines.delete(party)
      this.#lines.set(party, waiters)
    }
    this.take(party)
    next.proceed()
    return true
  }

  #nextWaiter(): Waiter | undefined {
    let next: Waiter | undefined
    for (const [party, [first]] of this.#lines) {
      if (this.areTaken(party)) continue
      if (next === undefined || this.takenBy(party) < this.takenBy(next.party)) next = first
    }
    return next
  }

  #leave(waiter: Waiter): void {
    const line = this.#lines.get(waiter.party) ?? []
    const left = line.filter((other) => other !== waiter)
    if (left.length > 0) this.#lines.set(waiter.party, left)
    else this.#lines.delete(waiter.party)
    this.#waiting -= 1
  }
}
