import type { Offsets } from '../../schemas/devices/read-models.ts'
import type { FollowedEntry, ReadableLog, TailItem } from '../event-log.ts'

/** A tail of the log that readers use in turn, and the place after what it has given. */
export class PastTail {
  readonly #items: AsyncIterator<TailItem<FollowedEntry>>
  readonly #ending = new AbortController()
  readonly #place: Record<number, number>
  /** Asked for, and not taken yet: its reader has left. */
  #next: Promise<IteratorResult<TailItem<FollowedEntry>>> | undefined
  isBusy = false
  hasEnded = false

  constructor(log: Pick<ReadableLog, 'tail'>, after: Offsets, closing: AbortSignal) {
    const signal = AbortSignal.any([closing, this.#ending.signal])
    this.#items = log.tail({ after: { ...after }, signal })[Symbol.asyncIterator]()
    this.#place = { ...after }
  }

  isAt(place: Offsets): boolean {
    if (this.isBusy) return false
    const partitions = Object.keys({ ...this.#place, ...place }).map(Number)
    return partitions.every((one) => (this.#place[one] ?? -1) === (place[one] ?? -1))
  }

  /** Undefined if the tail ends, or the reader does before something comes. */
  async next(signal: AbortSignal): Promise<TailItem<FollowedEntry> | undefined> {
    this.isBusy = true
    this.#next ??= this.#items.next()
    try {
      const next = await unlessAborted(this.#next, signal)
      if (next === undefined) return undefined
      this.#next = undefined
      if (next.done === true) {
        this.hasEnded = true
        return undefined
      }
      const item = next.value
      this.#place[item.partition] = item.kind === 'batch' ? item.lastOffset : item.after
      return item
    } catch (error) {
      this.hasEnded = true
      throw error
    } finally {
      this.isBusy = false
    }
  }

  end(): void {
    this.hasEnded = true
    this.#ending.abort()
    // It has ended, or fails as the log does, of which its reader knows.
    this.#next?.catch(() => undefined)
    this.#items.return?.().catch(() => undefined)
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const leave = () => resolve(undefined)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
