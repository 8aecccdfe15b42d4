import { setTimeout as pause } from 'node:timers/promises'
import { notErased } from '../../event-log/follow/erased.ts'
import type { ReadableLog } from '../../event-log/follow/followed.ts'
import type { LiveFeed } from '../../event-log/follow/live-feed.ts'
import { lastEntry, type ReaderPosition } from '../../event-log/follow/mark.ts'
import { readPast, shownEvents, type PastItem } from '../../event-log/follow/past.ts'
import { isStillThere, placeInLog } from '../../event-log/follow/place-in-log.ts'
import { hasReached } from '../../event-log/offsets.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import type { Metrics } from '../../runtime/process/metrics.ts'
import type { ErasureEntry, PositionEntry } from '../../schemas/events/log-entry.ts'
import type { Store } from '../../store/store.ts'
import { startPulse } from './pulse.ts'
import { readerFrames, type Showing } from './reader-frames.ts'
import { retryLine } from './sse.ts'

export type ReaderOptions = {
  readonly chunkBytes: number
  /** Clients with a read time-out of 5 s must not give up between two heartbeats. */
  readonly heartbeatMs: number
  /**
   * Events this soon after a chunk are sent together: each chunk costs the client as much as ten
   * events.
   */
  readonly gatherMs: number
  readonly retryMs: number
  /** How long a reader of the past waits for a pending erasure. */
  readonly pendingMs: number
}

export type StreamReader = {
  /** The output in chunks, each generated on demand. */
  readonly frames: AsyncGenerator<string, void>
  /** Whether the reader reads past entries, which only a few may do at a time. */
  isCatchingUp(): boolean
  /** Whether the reader's unread entries have been dropped. */
  isTooLate(): boolean
}

type ReaderInput = {
  readonly showing: Showing
  readonly resumeAfter?: ReaderPosition | undefined
  /** The feed, and the ring's number when the reader joined: see `readerFrames`. */
  readonly channel: { readonly feed: LiveFeed; readonly joined: number }
  /** Takes a turn at catching up, if one is free; the returned function ends it. */
  readonly takeTurn: () => (() => void) | undefined
  /** Waits until this reader may render and write a chunk. */
  readonly nextTurn: () => Promise<void>
  /** Ends the reader. */
  readonly signal: AbortSignal
  readonly options: ReaderOptions
}

/** Ring entries that a reader looks at in one turn, also if none is for it. */
const LOOKED_AT_ONCE = 500

/**
 * One reader of the stream: a cursor into the ring, without a buffer. It finds its place, reads the past up to the
 * ring, and then the ring, until `signal` is aborted.
 */
export function streamReader(
  {
    eventLog,
    store,
    logger,
    metrics,
  }: {
    eventLog: ReadableLog
    store: Pick<Store, 'erasuresOf'>
    logger: Logger
    metrics: Metrics
  },
  { showing, resumeAfter, channel, takeTurn, nextTurn, signal, options }: ReaderInput,
): StreamReader {
  const { feed, joined } = channel
  const { chunkBytes, heartbeatMs, gatherMs, retryMs, pendingMs } = options
  let place: ReaderPosition | undefined
  let catchingUp = false
  /** The next ring entry, once it reads from the ring. */
  let cursor: number | undefined
  /** Its place equalled the feed's when this entry was pushed, so frames can be shared. */
  let inStep = false
  const frames = readerFrames({ showing, joined, metrics })
  const { wanted, idAt } = frames
  const mark = () => place && idAt(place)
  const pulse = startPulse({ heartbeatMs, mark, signal })

  return {
    frames: read(),
    isCatchingUp: () => catchingUp,
    isTooLate: () => cursor !== undefined && cursor < feed.ring.first,
  }

  async function* read(): AsyncGenerator<string, void> {
    const stopListening = feed.listen(() => pulse.ring())
    try {
      if (resumeAfter === undefined && feed.hasBegun()) place = atEnd()
      const placed = place !== undefined
      yield retryLine() + pulse.beatNow()
      yield* pulse.meanwhile(feed.began)
      if (signal.aborted) return
      place ??= resumeAfter === undefined ? atEnd() : yield* checked(resumeAfter)
      yield* pulse.meanwhile(feed.caughtUp)
      while (!feed.holds(place.offsets)) if (!(yield* catchUp(place))) return
      if (!signal.aborted) yield* readRing(place, { placed })
    } finally {
      stopListening()
    }
  }

  function atEnd(): ReaderPosition {
    return { offsets: feed.end(), last: feed.last }
  }

  async function* checked({
    offsets,
    last,
  }: ReaderPosition): AsyncGenerator<string, ReaderPosition> {
    const following = { feed, eventLog, retryMs, signal, logger }
    const found = yield* pulse.meanwhile(placeInLog(offsets, following))
    if (found?.beyond === true) {
      yield frames.gap('expired')
      return { offsets: found.place }
    }
    const place = found?.place ?? { ...offsets }
    if (last === undefined) return { offsets: place }
    // Then it most probably has read the entry itself.
    yield* pulse.meanwhile(feed.caughtUp)
    const isThere = yield* pulse.meanwhile(isStillThere(last, following))
    if (isThere !== false) return { offsets: place, last }
    yield frames.gap('expired')
    // Where the client's log has left this one is unknown: it gets all that is at hand.
    return { offsets: { ...feed.ring.before } }
  }

  async function* catchUp(from: ReaderPosition): AsyncGenerator<string, boolean> {
    const endTurn = takeTurn()
    if (endTurn === undefined) {
      yield frames.lagging()
      return false
    }
    catchingUp = true
    const { accountId } = showing
    const items = readPast({
      eventLog,
      feed,
      place: from,
      shownOf: shownEvents(
        wanted,
        notErased({ store, feed, logger, accountId, pendingMs, signal }),
      ),
      retryMs,
      signal,
      logger,
    })
    try {
      for (;;) {
        await nextTurn()
        const next = yield* pulse.meanwhile(items.next())
        if (next === undefined) return false
        if (next.done !== true) yield* past(next.value, from)
        else {
          if (!next.value && !signal.aborted) yield frames.lagging()
          return next.value
        }
      }
    } finally {
      catchingUp = false
      endTurn()
      items.return(false).catch((error: unknown) => {
        logger.debug({ err: error }, 'ending a reader of the past failed')
      })
    }
  }

  async function* past(
    item: PastItem<PositionEntry | ErasureEntry>,
    at: ReaderPosition,
  ): AsyncGenerator<string, void> {
    if (item.kind === 'gap') {
      yield frames.gap(item.reason)
      return
    }
    let chunk = ''
    for (const entry of item.entries) {
      at.offsets[entry.origin.partition] = entry.origin.offset
      at.last = lastEntry(entry)
      chunk += frames.entry(entry, at)
      if (chunk.length < chunkBytes) continue
      yield chunk
      chunk = ''
      await nextTurn()
    }
    if (chunk !== '') yield chunk
  }

  async function* readRing(
    at: ReaderPosition,
    { placed }: { placed: boolean },
  ): AsyncGenerator<string, void> {
    cursor = feed.ring.first
    // Gives the client an id from which it can resume.
    if (!placed) yield pulse.beatNow()
    while (!signal.aborted) {
      if (cursor < feed.ring.first) {
        metrics.streamCutOff.inc()
        yield frames.lagging(idAt(at))
        return
      }
      let chunk = ''
      const until = Math.min(feed.ring.end, cursor + LOOKED_AT_ONCE)
      while (cursor < until && chunk.length < chunkBytes) {
        const entry = feed.ring.at(cursor)
        if (entry !== undefined) chunk += frames.ringEntry(entry, cursor, at, inStep)
        cursor += 1
      }
      if (cursor === feed.ring.end && (inStep || hasReached(feed.upTo, at.offsets))) {
        Object.assign(at.offsets, feed.upTo)
        at.last = feed.last ?? at.last
        inStep = true
      }
      const due = chunk === '' ? pulse.beat() : chunk
      if (due !== undefined) yield due
      else if (cursor === feed.ring.end) await pulse.heard()
      if (chunk !== '' && cursor === feed.ring.end) await gather()
      await nextTurn()
    }
  }

  async function gather(): Promise<void> {
    await pause(gatherMs, undefined, { signal, ref: false }).catch(() => undefined)
  }
}
