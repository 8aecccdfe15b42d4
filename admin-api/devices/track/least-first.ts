const NOWHERE = -1

/**
 * A binary heap of the numbers from 0 to `size` - 1, each with a priority that may change. It uses
 * arrays of numbers, because linked objects take several times as long.
 */
export class LeastFirst {
  readonly #priorities: Float64Array
  readonly #heap: Int32Array
  /** The position of each number in the heap. */
  readonly #ranks: Int32Array
  #count = 0

  constructor(size: number) {
    this.#priorities = new Float64Array(size)
    this.#heap = new Int32Array(size)
    this.#ranks = new Int32Array(size).fill(NOWHERE)
  }

  /** Adds a number, or changes its priority. */
  set(item: number, priority: number): void {
    const before = this.#priorities[item] as number
    const rank = this.#ranks[item] as number
    this.#priorities[item] = priority
    if (rank === NOWHERE) this.#up(item, this.#count++)
    else if (priority < before) this.#up(item, rank)
    else this.#down(item, rank)
  }

  /** Undefined if the heap is empty. */
  get least(): { readonly item: number; readonly priority: number } | undefined {
    if (this.#count === 0) return undefined
    const item = this.#heap[0] as number
    return { item, priority: this.#priorities[item] as number }
  }

  /** Does nothing if the number is not in the heap. */
  remove(item: number): void {
    const rank = this.#ranks[item] as number
    if (rank === NOWHERE) return
    this.#ranks[item] = NOWHERE
    this.#count -= 1
    const last = this.#heap[this.#count] as number
    if (last === item) return
    const isLess = (this.#priorities[last] as number) < (this.#priorities[item] as number)
    if (isLess) this.#up(last, rank)
    else this.#down(last, rank)
  }

  /** Puts the number at the rank, or further up while its priority is lower than its parent's. */
  #up(item: number, from: number): void {
    const priorities = this.#priorities
    const heap = this.#heap
    const ranks = this.#ranks
    const priority = priorities[item] as number
    let rank = from
    while (rank > 0) {
      const above = (rank - 1) >> 1
      const parent = heap[above] as number
      if ((priorities[parent] as number) <= priority) break
      heap[rank] = parent
      ranks[parent] = rank
      rank = above
    }
    heap[rank] = item
    ranks[item] = rank
  }

  /** Puts the number at the rank, or further down while a child's priority is lower. */
  #down(item: number, from: number): void {
    const priorities = this.#priorities
    const heap = this.#heap
    const ranks = this.#ranks
    const count = this.#count
    const priority = priorities[item] as number
    let rank = from
    for (;;) {
      let below = 2 * rank + 1
      if (below >= count) break
      let child = heap[below] as number
      let least = priorities[child] as number
      if (below + 1 < count) {
        const right = heap[below + 1] as number
        const ofRight = priorities[right] as number
        if (ofRight < least) {
          below += 1
          child = right
          least = ofRight
        }
      }
      if (priority <= least) break
      heap[rank] = child
      ranks[child] = rank
      rank = below
    }
    heap[rank] = item
    ranks[item] = rank
  }
}
