import { setTimeout as pause } from 'node:timers/promises'
import type { LogBatch, LogEntry, TailItem } from '../../event-log/event-log.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import type { ErasureEntry, PositionEntry } from '../../store/read-models.ts'
import type { NotErased } from './erased.ts'
import type { LiveFeed, ReadableLog } from './live-feed.ts'
import type { Place } from './mark.ts'
import type { Pulse } from './pulse.ts'
import type { GapReason } from './ring.ts'

/** How entries are rendered for a reader. */
export type Shown = {
  wantsPosition(event: PositionReported): boolean
  wantsErasure(event: { accountId: string; deviceId: string }): boolean
  /** `place` is the one after the entry. */
  position(entry: Pick<PositionEntry, 'event'>, place: Readonly<Place>): string
  erasure(entry: Pick<ErasureEntry, 'event'>, place: Readonly<Place>): string
  gap(reason: GapReason): string
}

/**
 * Reads what the ring no longer holds with a separate tail, advancing `place`, until the ring holds
 * the rest. Returns true then; false if the reader has ended or erasures are unknown.
 */
export async function* catchUp({
  eventLog,
  feed,
  notErased,
  pulse,
  place,
  shown,
  chunkBytes,
  retryMs,
  signal,
  logger,
}: {
  eventLog: ReadableLog
  feed: LiveFeed
  notErased: NotErased
  pulse: Pulse
  place: Place
  shown: Shown
  chunkBytes: number
  retryMs: number
  signal: AbortSignal
  logger: Logger
}): AsyncGenerator<string, boolean> {
  let gapTold = false
  let unknown = false
  const arrived = () => feed.isCaughtUp() && feed.holds(place)

  while (!signal.aborted && !arrived() && !unknown) {
    try {
      yield* readOn()
    } catch (error) {
      logger.warn({ err: error }, 'a reader of the past waits for the log')
      yield* pulse.meanwhile(pause(retryMs, undefined, { ref: false }))
    }
  }
  return arrived() && !signal.aborted

  async function* readOn(): AsyncGenerator<string, void> {
    const ending = new AbortController()
    const end = () => ending.abort()
    signal.addEventListener('abort', end, { once: true })
    const tail = eventLog.tail({ after: { ...place }, signal: ending.signal })
    const items = tail[Symbol.asyncIterator]()
    try {
      while (!signal.aborted && !arrived() && !unknown) {
        const next = yield* pulse.meanwhile(items.next(), arrived)
        if (next === undefined || next.done === true) return
        yield* take(next.value)
        await endOfTurn()
      }
    } finally {
      signal.removeEventListener('abort', end)
      end()
      items.return?.().catch((error: unknown) => {
        logger.debug({ err: error }, 'a reader of the past did not end well')
      })
    }
  }

  async function* take(item: TailItem): AsyncGenerator<string, void> {
    if (item.kind === 'batch') return yield* show(item)
    yield* tellGap('expired')
    const extent = await eventLog.extent()
    const first = extent.find(({ partition }) => partition === item.partition)?.first ?? 0
    if (first > 0) place[item.partition] = Math.max(place[item.partition] ?? -1, first - 1)
  }

  function* tellGap(reason: GapReason): Generator<string, void> {
    if (!gapTold) yield shown.gap(reason)
    gapTold = true
  }

  async function* show(batch: LogBatch): AsyncGenerator<string, void> {
    if (batch.entries.some(({ kind }) => kind === 'unreadable')) yield* tellGap('unreadable')
    const wanted = batch.entries.filter(
      (entry) => entry.kind === 'position' && shown.wantsPosition(entry.event),
    ) as readonly PositionEntry[]
    const left = yield* pulse.meanwhile(notErased(batch, wanted))
    if (left === undefined) {
      unknown = true
      return
    }
    const positions = new Set<LogEntry>(left)
    let chunk = ''
    for (const entry of batch.entries) {
      if (!isWanted(entry, positions)) continue
      place[batch.partition] = entry.origin.offset
      const isErasure = entry.kind === 'erasure'
      chunk += isErasure ? shown.erasure(entry, place) : shown.position(entry, place)
      if (chunk.length < chunkBytes) continue
      yield chunk
      chunk = ''
    }
    place[batch.partition] = batch.lastOffset
    if (chunk !== '') yield chunk
  }

  function isWanted(
    entry: LogEntry,
    positions: ReadonlySet<LogEntry>,
  ): entry is PositionEntry | ErasureEntry {
    if (entry.kind === 'erasure') return shown.wantsErasure(entry.event)
    return positions.has(entry)
  }
}
