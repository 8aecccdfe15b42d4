/** A call that waits for its batch, or for the batch's outcome. */
export type Call<Item> = {
  readonly items: readonly Item[]
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  timer: NodeJS.Timeout | undefined
  state: 'queued' | 'taken' | 'answered'
}

/** A large call: small ones overtake it, unless they share a key with it. */
type KeyedCall<Item> = Call<Item> & { keys: ReadonlySet<unknown> }

export type QueueLimits<Item> = {
  readonly maxBatchItems: number
  readonly maxBatchBytes: number
  /**
   * Calls of at most this many items are small; they overtake larger ones, so that no report waits
   * for an import. Only applies with `keyOf`.
   */
  readonly fewItems: number
  /** Items with the same key keep their order. Without it, all items do. */
  readonly keyOf?: ((item: Item) => unknown) | undefined
}

/** The calls that wait for a batch. */
export class CallQueue<Item> {
  readonly #limits: QueueLimits<Item>
  // Not a `Set`: endless additions and deletions leave hash tables behind, whose calls V8 moves to
  // the old generation.
  #few: Call<Item>[] = []
  #many: KeyedCall<Item>[] = []
  /** Whether the previous batch had only small calls while large ones waited. */
  #fewWentAlone = false
  /** Number of expired calls in the queue. */
  #expired = 0

  constructor(limits: QueueLimits<Item>) {
    this.#limits = limits
  }

  /** The number of waiting calls. */
  get length(): number {
    return this.#few.length + this.#many.length - this.#expired
  }

  add(call: Call<Item>): void {
    const { fewItems, keyOf } = this.#limits
    if (keyOf === undefined || (call.items.length <= fewItems && !this.#follows(call, keyOf))) {
      this.#few.push(call)
    } else this.#many.push(Object.assign(call, { keys: new Set(call.items.map(keyOf)) }))
  }

  /** Whether a large call with one of the keys is waiting. */
  #follows({ items }: Call<Item>, keyOf: (item: Item) => unknown): boolean {
    return (
      this.#many.length > 0 &&
      this.#many.some(({ keys }) => items.some((item) => keys.has(keyOf(item))))
    )
  }

  /**
   * Takes the calls of the next batch: as many small ones as fit. Large calls join if no small call
   * waits, or if the previous batch had only small calls; then the oldest large call is taken even
   * if it does not fit, so that small calls cannot starve it.
   */
  take(): Call<Item>[] {
    const batch = new Batch<Item>(this.#limits)
    this.#few = this.#takeFrom(this.#few, (call) => batch.add(call))
    if (this.#many.length === 0) return batch.calls
    const fewGoAlone = batch.calls.length > 0 && !this.#fewWentAlone
    this.#fewWentAlone = fewGoAlone
    if (fewGoAlone) return batch.calls
    batch.admitsOneMore = true
    this.#many = this.#takeFrom(this.#many, (call) => !this.#leads(call) && batch.add(call))
    return batch.calls
  }

  /** Takes calls until `add` rejects one, and returns the remaining calls. */
  #takeFrom<One extends Call<Item>>(line: One[], add: (call: One) => boolean): One[] {
    let taken = 0
    for (const call of line) {
      if (call.state !== 'queued') this.#expired -= 1
      else if (!add(call)) break
      taken += 1
    }
    if (taken === line.length) return []
    line.splice(0, taken)
    return line
  }

  /** Whether a small call with one of the keys still waits: it was queued earlier. */
  #leads({ keys }: KeyedCall<Item>): boolean {
    const { keyOf } = this.#limits
    if (keyOf === undefined) return false
    return this.#few.some(
      ({ state, items }) => state === 'queued' && items.some((item) => keys.has(keyOf(item))),
    )
  }

  /** Notes that a queued call has expired; expired calls do not pile up. */
  expire(): void {
    this.#expired += 1
    if (this.#expired <= (this.#few.length + this.#many.length) / 2) return
    this.#few = this.#few.filter(({ state }) => state === 'queued')
    this.#many = this.#many.filter(({ state }) => state === 'queued')
    this.#expired = 0
  }
}

class Batch<Item> {
  readonly calls: Call<Item>[] = []
  admitsOneMore = true
  readonly #limits: Pick<QueueLimits<Item>, 'maxBatchItems' | 'maxBatchBytes'>
  #items = 0
  #bytes = 0

  constructor(limits: Pick<QueueLimits<Item>, 'maxBatchItems' | 'maxBatchBytes'>) {
    this.#limits = limits
  }

  /** False if the call does not fit. */
  add(call: Call<Item>): boolean {
    const { maxBatchItems, maxBatchBytes } = this.#limits
    const items = this.#items + call.items.length
    const bytes = this.#bytes + call.bytes
    if (!this.admitsOneMore && (items > maxBatchItems || bytes > maxBatchBytes)) return false
    this.admitsOneMore = false
    this.#items = items
    this.#bytes = bytes
    call.state = 'taken'
    this.calls.push(call)
    return true
  }
}
