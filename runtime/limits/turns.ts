import { Slots } from './slots.ts'

/** Gives a turn back; calling it again changes nothing. */
export type GiveBack = () => void

export type TurnLimits = {
  /** The maximum number of concurrent turns. */
  readonly atOnce: number
  /** The maximum number of one party; absent: `atOnce`. */
  readonly atOnceEach?: number
  /** The maximum number of waiters. */
  readonly waiting: number
  /** The maximum number of waiters per party; absent: `waiting`. */
  readonly waitingEach?: number
  /** The longest wait; absent: no limit. */
  readonly waitsMs?: number
  /** The error when the queue is full or the wait was too long. */
  readonly refusal: () => Error
}

type Waiter = {
  readonly party: string
  readonly proceed: () => void
  readonly turnAway: () => void
}

/**
 * Limits concurrent turns. Of the waiting parties, the one with the fewest turns is next, and equal ones are served
 * round-robin; when the queue is full, the party with the most waiters loses one to a party with fewer.
 */
export class Turns {
  readonly #limits: TurnLimits
  /** Waiters by party; a party that gets a turn moves to the end. */
  readonly #lines = new Map<string, Waiter[]>()
  readonly #taken: Slots
  #waiting = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
    const { atOnce, atOnceEach = atOnce } = limits
    this.#taken = new Slots({ most: atOnce, mostEach: atOnceEach })
  }

  /** Whether no turn is taken or waited for. */
  get isIdle(): boolean {
    return this.#taken.areFree && this.#waiting === 0
  }

  /** @throws the error from `refusal`. */
  async run<T>(task: () => Promise<T>, party = ''): Promise<T> {
    const giveBack = await this.take(party)
    try {
      return await task()
    } finally {
      giveBack()
    }
  }

  /** @throws the error from `refusal`. */
  async take(party = ''): Promise<GiveBack> {
    if (!this.#taken.areTaken(party)) this.#taken.take(party)
    // A turn is handed over directly: it is never free in between.
    else await this.#wait(party)
    let isReturned = false
    return () => {
      if (!isReturned) this.#handOn(party)
      isReturned = true
    }
  }

  #wait(party: string): Promise<void> {
    const { waiting, waitingEach = waiting, waitsMs, refusal } = this.#limits
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
      const timer = waitsMs === undefined ? undefined : setTimeout(waiter.turnAway, waitsMs).unref()
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

  #handOn(from: string): void {
    this.#taken.giveBack(from)
    const next = this.#nextWaiter()
    if (next === undefined) return
    const { party } = next
    this.#leave(next)
    const waiters = this.#lines.get(party)
    if (waiters !== undefined) {
      this.#lines.delete(party)
      this.#lines.set(party, waiters)
    }
    this.#taken.take(party)
    next.proceed()
  }

  #nextWaiter(): Waiter | undefined {
    let next: Waiter | undefined
    for (const [party, [first]] of this.#lines) {
      if (this.#taken.areTaken(party)) continue
      if (next === undefined || this.#taken.takenBy(party) < this.#taken.takenBy(next.party))
        next = first
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
