import { LRUCache } from 'lru-cache'
import type { Offsets } from '../../schemas/devices/read-models.ts'
import type { Extent, FollowedEntry, LogBatch, ReadableLog, TailItem } from '../event-log.ts'
import { approximateBytes } from './ring.ts'

type Batch = LogBatch<FollowedEntry>

/**
 * A tail of the log that readers share, one at a time, and the position after the last entry it
 * returned.
 */
export class PastTail {
  readonly #items: AsyncIterator<TailItem<FollowedEntry>>
  readonly #ending = new AbortController()
  readonly #place: Record<number, number>
  /** A requested item that was not taken, because its reader left. */
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

  /** Undefined if the tail or the reader ends before an entry arrives. */
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
    // The tail has ended or failed with the log, and its reader knows that.
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

/** Maximum number of cached batches: each search scans all of them. */
const MOST_BATCHES = 256

/** The most recently used batches, as many as fit into `maxBytes`. */
export function createBatchCache(maxBytes: number) {
  /** Keyed by partition and by the offset before the batch. */
  const kept = new LRUCache<string, { readonly after: number; readonly batch: Batch }>({
    max: MOST_BATCHES,
    maxSize: maxBytes,
    sizeCalculation: ({ batch }) => batch.entries.reduce((sum, entry) => sum + bytesOf(entry), 1),
  })

  /** Finds a cached batch that follows these offsets in one of the partitions. */
  function find(offsets: Offsets) {
    for (const [key, { after, batch }] of kept.entries()) {
      const offset = offsets[batch.partition] ?? -1
      if (after <= offset && offset < batch.lastOffset) return { key, batch, offset }
    }
    return undefined
  }

  /** The log now has different entries there. */
  function forget(partition: number): void {
    for (const [key, { batch }] of [...kept.entries()]) {
      if (batch.partition === partition) kept.delete(key)
    }
  }

  return {
    forget,
    holds: (offsets: Offsets) => find(offsets) !== undefined,

    add(after: number, batch: Batch): void {
      kept.set(`${batch.partition}/${after}`, { after, batch })
    },

    /** Returns at most `most` of the following entries. */
    after(offsets: Offsets, most: number): TailItem<FollowedEntry> | undefined {
      const found = find(offsets)
      if (found === undefined) return undefined
      kept.get(found.key)
      return { ...cut(found.batch, found.offset, most), kind: 'batch' }
    },

    /** Forgets partitions that have become shorter: they have been recreated. */
    forgetLost(extent: readonly Extent[]): void {
      for (const { batch } of [...kept.values()]) {
        const own = extent.find(({ partition }) => partition === batch.partition)
        if (own !== undefined && batch.lastOffset >= own.next) forget(batch.partition)
      }
    },
  }
}

/** Cuts a batch to at most `most` entries after an offset. */
function cut(batch: Batch, offset: number, most: number): Batch {
  const { entries } = batch
  const found = entries.findIndex(({ origin }) => origin.offset > offset)
  const from = found < 0 ? entries.length : found
  const part = entries.slice(from, from + most)
  const last = from + most < entries.length ? part.at(-1)?.origin.offset : undefined
  return { ...batch, entries: part, lastOffset: last ?? batch.lastOffset }
}

function bytesOf(entry: FollowedEntry): number {
  const attributes = 'event' in entry && 'attributes' in entry.event ? entry.event.attributes : {}
  const own = entry.kind === 'position' || entry.kind === 'fact' ? entry : 'other'
  return approximateBytes(own) + 2 * JSON.stringify(attributes).length
}
