const NOWHERE = -1

/**
 * A binary heap of the numbers from 0 to `size` - 1, of which each has a priority that may change. In
 * arrays of numbers, because objects that point at each other take several times as long.
 */
export class LeastFirst {
  readonly #priorities: Float64Array
  readonly #heap: Int32Array
  /** Where each number is in the heap. */
  readonly #ranks: Int32Array
  #count = 0

  constructor(size: number) {
    this.#priorities = new Float64Array(size)
    this.#heap = new Int32Array(size)
    this.#ranks = new Int32Array(size).fill(NOWHERE)
  }

  /** Puts a number in, or changes its priority. */
  set(item: number, priority: number): void {
    const { [item]: before = 0 } = this.#priorities
    this.#priorities[item] = priority
    const rank = this.#rankOf(item)
    if (rank === NOWHERE) this.#up(item, this.#count++)
    else if (priority < before) this.#up(item, rank)
    else this.#down(item, rank)
  }

  /** Undefined where none is in. */
  get least(): { readonly item: number; readonly priority: number } | undefined {
    if (this.#count === 0) return undefined
    const item = this.#at(0)
    return { item, priority: this.#priorityOf(item) }
  }

  /** Does nothing for a number that is not in. */
  remove(item: number): void {
    const rank = this.#rankOf(item)
    if (rank === NOWHERE) return
    this.#ranks[item] = NOWHERE
    this.#count -= 1
    const last = this.#at(this.#count)
    if (last === item) return
    if (this.#priorityOf(last) < this.#priorityOf(item)) this.#up(last, rank)
    else this.#down(last, rank)
  }

  /** Puts the number at the rank, or above it while it comes before what is there. */
  #up(item: number, from: number): void {
    const priority = this.#priorityOf(item)
    let rank = from
    while (rank > 0) {
      const parent = this.#at((rank - 1) >> 1)
      if (this.#priorityOf(parent) <= priority) break
      this.#put(parent, rank)
      rank = (rank - 1) >> 1
    }
    this.#put(item, rank)
  }

  #down(item: number, from: number): void {
    const priority = this.#priorityOf(item)
    let rank = from
    for (;;) {
      let child = 2 * rank + 1
      if (child >= this.#count) break
      const isRightLess =
        child + 1 < this.#count &&
        this.#priorityOf(this.#at(child + 1)) < this.#priorityOf(this.#at(child))
      if (isRightLess) child += 1
      const lesser = this.#at(child)
      if (priority <= this.#priorityOf(lesser)) break
      this.#put(lesser, rank)
      rank = child
    }
    this.#put(item, rank)
  }

  #put(item: number, rank: number): void {
    this.#heap[rank] = item
    this.#ranks[item] = rank
  }

  #at(rank: number): number {
    return this.#heap[rank] ?? NOWHERE
  }

  #rankOf(item: number): number {
    return this.#ranks[item] ?? NOWHERE
  }

  #priorityOf(item: number): number {
    return this.#priorities[item] ?? 0
  }
}
