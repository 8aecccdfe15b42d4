import type { ReadableLog } from '../event-log/event-log.ts'
import { endOf, higherOffsets, hasReached } from '../event-log/offsets.ts'
import { endOfTurn } from '../runtime/end-of-turn.ts'
import type { Logger } from '../runtime/process/logger.ts'
import { repeatUntilSuccess } from '../runtime/process/repeat.ts'
import type { Offsets } from '../schemas/devices/read-models.ts'
import type { ErasureEntry } from '../schemas/events/log-entry.ts'
import type { Generations } from '../store/generations.ts'
import type { Erasures, ReadModels } from '../store/read-models.ts'

/** If log or store has not responded by then, the store's data is served unchecked. */
const LONGEST_ASKED_MS = 5_000

export type ErasuresAhead = {
  /** Resolves when all are hidden, or `signal` is aborted. */
  readonly done: Promise<void>
  /** Whether erased devices might be visible: the log is still being read. */
  isReading(): boolean
  /** Repeats this if an older store has been restored since. Called every few seconds. */
  check(): Promise<void>
}

/**
 * Hides devices that the log erases after the store's checkpoint and whose erasure the store does
 * not know: an older store was restored. Until the projector reaches these erasures, the devices
 * would be visible.
 */
export function hideErasedAhead({
  eventLog,
  store,
  logger,
  signal,
}: {
  eventLog: Pick<ReadableLog, 'tail' | 'extent'>
  store: Pick<ReadModels, 'checkpoint'> &
    Pick<Generations, 'currentGeneration'> &
    Pick<Erasures, 'erasuresOf' | 'hideErased'>
  logger: Logger
  signal: AbortSignal
}): ErasuresAhead {
  const askedAt = performance.now()
  let state: 'asking' | 'reading' | 'done' = 'asking'
  let seen: Progress = { generation: 0, checkpoint: {} }

  async function hide(): Promise<void> {
    state = 'asking'
    seen = await progress()
    const after = seen.checkpoint
    await eventLog.extent()
    state = 'reading'
    for await (const { event } of readErasuresAfter(after, { eventLog, signal })) {
      const { accountId, deviceId, erasedAt } = event
      const known = await store.erasuresOf({ accountId, deviceIds: [deviceId] })
      if ((known.get(deviceId)?.erasedAt ?? -Infinity) >= erasedAt) continue
      await store.hideErased(event)
      logger.info({ accountId, deviceId }, 'device hidden: the log has its erasure')
    }
    state = 'done'
  }

  async function progress(): Promise<Progress> {
    return { generation: await store.currentGeneration(), checkpoint: await store.checkpoint() }
  }

  const failure = 'could not read erasures from the log; retrying'
  return {
    done: repeatUntilSuccess(hide, { logger, signal, failure }),
    async check() {
      if (state !== 'done') return
      const now = await progress()
      const before = seen
      seen = now
      if (!hasGoneBack(before, now)) return
      logger.warn({ before, now }, 'the store went back in time: restored from a backup')
      await repeatUntilSuccess(hide, { logger, signal, failure })
    },
    isReading: () =>
      state === 'reading' || (state === 'asking' && performance.now() - askedAt < LONGEST_ASKED_MS),
  }
}

type Progress = { readonly generation: number; readonly checkpoint: Offsets }

/** A new generation may start slightly before the end of the previous one. */
function hasGoneBack(before: Progress, { generation, checkpoint }: Progress): boolean {
  if (generation !== before.generation) return generation < before.generation
  return !hasReached(checkpoint, before.checkpoint)
}

/** The erasures after these offsets, up to the log's end at the time of the call. */
async function* readErasuresAfter(
  after: Offsets,
  { eventLog, signal }: { eventLog: Pick<ReadableLog, 'tail' | 'extent'>; signal: AbortSignal },
): AsyncGenerator<ErasureEntry, void> {
  const extent = await eventLog.extent()
  const end = endOf(extent)
  // Entries no longer in the log are skipped.
  const begin = Object.fromEntries(extent.map(({ partition, first }) => [partition, first - 1]))
  let place: Offsets = higherOffsets(begin, after)
  if (hasReached(place, end)) return
  const ending = new AbortController()
  try {
    const ended = AbortSignal.any([signal, ending.signal])
    for await (const item of eventLog.tail({ after: place, signal: ended })) {
      if (item.kind === 'gap') continue
      for (const entry of item.entries) if (entry.kind === 'erasure') yield entry
      place = higherOffsets(place, { [item.partition]: item.lastOffset })
      if (hasReached(place, end)) return
      await endOfTurn()
    }
  } finally {
    ending.abort()
  }
  signal.throwIfAborted()
  throw new Error('the log ended before it was read to its end')
}
