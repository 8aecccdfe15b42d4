import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { ErasureEntry } from '../../schemas/log-entry.ts'
import type { Offsets } from '../../schemas/read-models.ts'
import { endOf, furthest, hasReached } from '../offsets.ts'
import type { ReadableLog } from './followed.ts'

/** The erasures after a place in the log, up to the end that the log has when the call begins. */
export async function* erasuresAfter(
  after: Offsets,
  { eventLog, signal }: { eventLog: ReadableLog; signal: AbortSignal },
): AsyncGenerator<ErasureEntry, void> {
  const extent = await eventLog.extent()
  const end = endOf(extent)
  // Entries that the log no longer holds are passed over.
  const begin = Object.fromEntries(extent.map(({ partition, first }) => [partition, first - 1]))
  let place: Offsets = furthest(begin, after)
  if (hasReached(place, end)) return
  const ending = new AbortController()
  try {
    const ended = AbortSignal.any([signal, ending.signal])
    for await (const item of eventLog.tail({ after: place, signal: ended })) {
      if (item.kind === 'gap') continue
      for (const entry of item.entries) if (entry.kind === 'erasure') yield entry
      place = furthest(place, { [item.partition]: item.lastOffset })
      if (hasReached(place, end)) return
      await endOfTurn()
    }
  } finally {
    ending.abort()
  }
  signal.throwIfAborted()
  throw new Error('the log ended before it was read to its end')
}
