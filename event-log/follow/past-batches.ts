import { LRUCache } from 'lru-cache'
import type { Offsets } from '../../schemas/devices/read-models.ts'
import type { Extent } from '../event-log.ts'
import type { FollowedBatch, FollowedEntry } from './followed.ts'
import { approximateBytes } from './ring.ts'

/** A batch, and the offset that it follows. */
type Kept = { readonly after: number; readonly batch: FollowedBatch; readonly bytes: number }

/** The batches of the past that were used last, as many as fit into `maxBytes`. */
export function pastBatches(maxBytes: number) {
  /** The entries of each partition, in order. */
  const byPartition = new Map<number, Kept[]>()
  const kept = new LRUCache<string, Kept>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes,
    dispose: drop,
  })

  function drop(one: Kept): void {
    const line = byPartition.get(one.batch.partition) ?? []
    const place = line.indexOf(one)
    if (place >= 0) line.splice(place, 1)
  }

  function find(partition: number, offset: number): Kept | undefined {
    const line = byPartition.get(partition) ?? []
    const one = line[firstBehind(line, offset) - 1]
    return one !== undefined && offset < one.batch.lastOffset ? one : undefined
  }

  function next(offsets: Offsets): { readonly found: Kept; readonly offset: number } | undefined {
    for (const partition of byPartition.keys()) {
      const offset = offsets[partition] ?? -1
      const found = find(partition, offset)
      if (found !== undefined) return { found, offset }
    }
    return undefined
  }

  return {
    add(after: number, batch: FollowedBatch): void {
      const bytes = batch.entries.reduce((sum, entry) => sum + bytesOf(entry), 1)
      const one = { after, batch, bytes }
      const key = keyOf(one)
      kept.delete(key)
      kept.set(key, one)
      if (!kept.has(key)) return
      const line = byPartition.get(batch.partition) ?? []
      byPartition.set(batch.partition, line)
      line.splice(firstBehind(line, after), 0, one)
    },

    holds: (offsets: Offsets) => next(offsets) !== undefined,

    /** At most this many entries that follow these offsets in one of the partitions. */
    after(offsets: Offsets, most: number): FollowedBatch | undefined {
      const one = next(offsets)
      if (one === undefined) return undefined
      kept.get(keyOf(one.found))
      return cut(one.found.batch, one.offset, most)
    },

    /** The log has other entries there now. */
    forget(partition: number): void {
      for (const one of [...(byPartition.get(partition) ?? [])]) kept.delete(keyOf(one))
    },

    /** Forgets partitions that are shorter than they were: they have been made again. */
    forgetLost(extent: readonly Extent[]): void {
      for (const { partition, next } of extent) {
        const last = byPartition.get(partition)?.at(-1)
        if (last !== undefined && last.batch.lastOffset >= next) this.forget(partition)
      }
    },
  }
}

/** The entries of a batch behind an offset, at most so many. */
function cut(batch: FollowedBatch, offset: number, most: number): FollowedBatch {
  const { entries } = batch
  const found = entries.findIndex(({ origin }) => origin.offset > offset)
  const from = found < 0 ? entries.length : found
  const part = entries.slice(from, from + most)
  const last = from + most < entries.length ? part.at(-1)?.origin.offset : undefined
  return { ...batch, entries: part, lastOffset: last ?? batch.lastOffset }
}

function keyOf({ after, batch }: Kept): string {
  return `${batch.partition}/${after}`
}

/** The place of the first one that follows an offset behind this one. */
function firstBehind(line: readonly Kept[], offset: number): number {
  let [low, high] = [0, line.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((line[middle]?.after ?? 0) > offset) high = middle
    else low = middle + 1
  }
  return low
}

function bytesOf(entry: FollowedEntry): number {
  const attributes = 'event' in entry && 'attributes' in entry.event ? entry.event.attributes : {}
  const own = entry.kind === 'position' || entry.kind === 'fact' ? entry : 'other'
  return approximateBytes(own) + 2 * JSON.stringify(attributes).length
}
