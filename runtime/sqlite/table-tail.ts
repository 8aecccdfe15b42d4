import type { Sleepers } from '../process/repeat.ts'

/**
 * Yields the batches of an append-only table, which is one partition, after an offset, then new
 * ones. If rows after the offset have been removed, a gap comes first, which names the offset that
 * the rest follows.
 */
export async function* tableTail<Batch extends { readonly lastOffset: number }>({
  partition,
  after: start,
  read,
  removedUpTo,
  waiting,
  lookAgainMs,
  hasEnded,
  signal,
}: {
  partition: number
  after: number
  /** Reads the next batch; undefined if nothing follows the offset yet. */
  read: (after: number) => Batch | undefined
  removedUpTo: () => number
  /** Woken when there is more; another process may append too, which only polling detects. */
  waiting: Sleepers
  lookAgainMs: number
  hasEnded: () => boolean
  signal: AbortSignal
}): AsyncGenerator<
  | ({ readonly kind: 'batch' } & Batch)
  | { readonly kind: 'gap'; readonly partition: number; readonly after: number },
  void
> {
  for (let after = start; !hasEnded() && !signal.aborted;) {
    const removed = removedUpTo()
    if (after < removed) {
      after = removed
      yield { kind: 'gap', partition, after }
      continue
    }
    const batch = read(after)
    if (batch === undefined) {
      await waiting.sleep(lookAgainMs, signal)
      continue
    }
    after = batch.lastOffset
    yield { kind: 'batch', ...batch }
  }
}
