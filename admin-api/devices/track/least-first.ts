/** Something with a place in a heap, which the heap keeps up to date. */
export type Ranked = {
  priority: number
  /** Undefined: it is in no heap. */
  rank: number | undefined
}

/** A binary heap whose items may change their priority. */
export class LeastFirst<Item extends Ranked> {
  readonly #items: Item[] = []

  put(item: Item): void {
    item.rank = this.#items.length
    this.#items.push(item)
    this.moved(item)
  }

  /** To be called after a change of the item's priority. */
  moved(item: Item): void {
    this.#down(this.#up(item))
  }

  takeLeast(): Item | undefined {
    const [least] = this.#items
    if (least !== undefined) this.remove(least)
    return least
  }

  remove(item: Item): void {
    const { rank } = item
    const last = this.#items.pop()
    item.rank = undefined
    if (rank === undefined || last === undefined || last === item) return
    this.#set(last, rank)
    this.moved(last)
  }

  #up(item: Item): Item {
    for (;;) {
      const rank = item.rank ?? 0
      const parent = this.#items[(rank - 1) >> 1]
      if (rank === 0 || parent === undefined || parent.priority <= item.priority) return item
      this.#set(parent, rank)
      this.#set(item, (rank - 1) >> 1)
    }
  }

  #down(item: Item): void {
    for (;;) {
      const rank = item.rank ?? 0
      const [left, right] = [this.#items[2 * rank + 1], this.#items[2 * rank + 2]]
      const lesser = right !== undefined && right.priority < (left?.priority ?? 0) ? right : left
      if (lesser === undefined || item.priority <= lesser.priority) return
      const below = lesser.rank ?? 0
      this.#set(lesser, rank)
      this.#set(item, below)
    }
  }

  #set(item: Item, rank: number): void {
    this.#items[rank] = item
    item.rank = rank
  }
}
