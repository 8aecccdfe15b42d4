import type { Offsets } from '../../schemas/read-models.ts'
import type { FollowedItem, ReadableLog } from './followed.ts'

export type KeptTailsOptions = {
  /** How long a reader of the past waits for the next page, and how many may wait. */
  readonly keptMs: number
  readonly mostKept: number
}

type TailOf = Pick<ReadableLog, 'tail'>

/**
 * A log whose tails are kept for a while after their readers have ended, for one that continues at the same place.
 * On Kafka a tail takes about a second to begin, and programs read the past page by page.
 */
export function keptTails(
  log: TailOf,
  { keptMs, mostKept, stopping }: KeptTailsOptions & { readonly stopping: AbortSignal },
): TailOf {
  const kept = new Map<KeptTail, NodeJS.Timeout>()
  stopping.addEventListener('abort', () => [...kept.keys()].forEach(end), { once: true })

  return {
    async *tail({ after, signal }) {
      const tail = taken(after) ?? open(after)
      const aborted = new Promise<undefined>((resolve) =>
        signal.addEventListener('abort', () => resolve(undefined), { once: true }),
      )
      let isAtRest = true
      try {
        const rest = after === 'end' ? undefined : tail.restAfter(after)
        if (rest !== undefined) yield rest
        while (!signal.aborted) {
          isAtRest = false
          const next = await Promise.race([tail.items.next(), aborted])
          if (next === undefined || next.done === true) return
          isAtRest = true
          tail.took(next.value)
          yield next.value
        }
      } finally {
        if (isAtRest && !stopping.aborted) keep(tail)
        else end(tail)
      }
    },
  }

  function open(after: Offsets | 'end'): KeptTail {
    const ending = new AbortController()
    const signal = AbortSignal.any([stopping, ending.signal])
    return new KeptTail(log.tail({ after, signal }), after, ending)
  }

  function taken(after: Offsets | 'end'): KeptTail | undefined {
    if (after === 'end') return undefined
    const found = [...kept.keys()].find((tail) => tail.continuesAt(after))
    if (found !== undefined) forget(found)
    return found
  }

  function keep(tail: KeptTail): void {
    kept.set(tail, setTimeout(() => end(tail), keptMs).unref())
    const [oldest] = kept.keys()
    if (kept.size > mostKept && oldest !== undefined) end(oldest)
  }

  function forget(tail: KeptTail): void {
    clearTimeout(kept.get(tail))
    kept.delete(tail)
  }

  function end(tail: KeptTail): void {
    forget(tail)
    tail.end()
  }
}

type Batch = Extract<FollowedItem, { kind: 'batch' }>

/** A tail, and the place after what it has given. */
class KeptTail {
  readonly items: AsyncIterator<FollowedItem>
  readonly #ending: AbortController
  /** Undefined if it began at an end that is not known here. */
  readonly #place: Record<number, number> | undefined
  /** The last batch, of which a reader may have used the first entries alone, and the offset before it. */
  #last: { readonly batch: Batch; readonly before: number } | undefined

  constructor(tail: AsyncIterable<FollowedItem>, after: Offsets | 'end', ending: AbortController) {
    this.items = tail[Symbol.asyncIterator]()
    this.#place = after === 'end' ? undefined : { ...after }
    this.#ending = ending
  }

  took(item: FollowedItem): void {
    const place = this.#place
    if (place === undefined) return
    const { partition } = item
    const before = place[partition] ?? -1
    this.#last = item.kind === 'batch' ? { batch: item, before } : undefined
    place[partition] = item.kind === 'batch' ? item.lastOffset : item.after
  }

  continuesAt(after: Offsets): boolean {
    const place = this.#place
    if (place === undefined) return false
    const partitions = Object.keys({ ...place, ...after }).map(Number)
    return partitions.every((partition) => {
      const [own = -1, wanted = -1] = [place[partition], after[partition]]
      if (wanted === own) return true
      const last = this.#last
      return last?.batch.partition === partition && wanted >= last.before && wanted < own
    })
  }

  /** The entries of the last batch behind this place. */
  restAfter(after: Offsets): Batch | undefined {
    if (this.#last === undefined) return undefined
    const { batch } = this.#last
    const from = after[batch.partition] ?? -1
    if (from >= batch.lastOffset) return undefined
    return { ...batch, entries: batch.entries.filter(({ origin }) => origin.offset > from) }
  }

  end(): void {
    this.#ending.abort()
    // It has ended, or fails as the log does, of which its reader knows.
    this.items.return?.().catch(() => undefined)
  }
}
