import { setTimeout as pause } from 'node:timers/promises'
import type { ReadableLog } from '../../event-log/event-log.ts'
import type { LiveFeed } from '../../event-log/reading/live-feed.ts'
import { LogReader, readPast, type ReadEntry } from '../../event-log/reading/log-reader.ts'
import { findPlace, type ReaderPosition } from '../../event-log/reading/mark.ts'
import { omitErased } from '../../event-log/reading/open-feeds.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import type { Metrics } from '../../runtime/process/metrics.ts'
import type { Store } from '../../store/store.ts'
import { heartbeatFrame, readerFrames, retryLine, type Showing } from './frames.ts'
import type { StreamOptions } from './options.ts'

export type StreamReader = {
  /** The output in chunks, each generated on demand. */
  readonly frames: AsyncGenerator<string, void>
  /** Whether the reader reads past entries, which only a few may do at the same time. */
  isCatchingUp(): boolean
  /** Whether the reader's unread entries have been dropped. */
  isTooLate(): boolean
}

type ReaderInput = {
  readonly showing: Showing
  readonly resumeAfter?: ReaderPosition | undefined
  readonly feed: LiveFeed
  /** The ring's number when the reader joined: see `readerFrames`. */
  readonly joined: number
  /** Takes a slot for catching up, if one is free; the returned function frees it. */
  readonly takeTurn: () => (() => void) | undefined
  /** Waits until this reader may render and write a chunk. */
  readonly nextTurn: () => Promise<void>
  /** Ends the reader. */
  readonly signal: AbortSignal
  readonly options: StreamOptions
}

/** Maximum number of ring entries that a reader scans per event-loop turn, matching or not. */
const LOOKED_AT_ONCE = 500

/**
 * Streams to one reader: finds its position, reads the past up to the ring, and then the
 * ring, until `signal` is aborted.
 */
export function streamReader(
  {
    eventLog: log,
    store,
    logger,
    metrics,
  }: {
    eventLog: Pick<ReadableLog, 'tail' | 'extent'>
    store: Pick<Store, 'erasuresOf'>
    logger: Logger
    metrics: Metrics
  },
  { showing, resumeAfter, feed, joined, takeTurn, nextTurn, signal, options }: ReaderInput,
): StreamReader {
  const { chunkBytes, heartbeatMs, gatherMs, retryMs, pendingMs } = options
  let catchingUp = false
  /** Set once the reader reads from the ring. */
  let live: LogReader | undefined
  let place: ReaderPosition | undefined
  const frames = readerFrames({ showing, joined, metrics })
  const { idAt } = frames
  const pulse = startPulse({ heartbeatMs, mark: () => place && idAt(place), signal })

  return {
    frames: read(),
    isCatchingUp: () => catchingUp,
    isTooLate: () => live?.isTooLate() === true,
  }

  async function* read(): AsyncGenerator<string, void> {
    const stopListening = feed.listen(() => pulse.ring())
    try {
      if (resumeAfter === undefined && feed.hasBegun()) place = positionAtEnd()
      const placed = place !== undefined
      yield retryLine() + pulse.beatNow()
      yield* pulse.meanwhile(feed.until(feed.hasBegun, { signal }))
      if (signal.aborted) return
      place ??= resumeAfter === undefined ? positionAtEnd() : yield* findPosition(resumeAfter)
      yield* pulse.meanwhile(feed.until(feed.isCaughtUp, { signal }))
      const reader = new LogReader(feed, place, frames.wants)
      while (!feed.holds(place.offsets)) if (!(yield* catchUp(reader))) return
      if (!signal.aborted) yield* readRing(reader, { placed })
    } finally {
      stopListening()
    }
  }

  function positionAtEnd(): ReaderPosition {
    return { offsets: feed.end(), last: feed.last }
  }

  async function* findPosition(claimed: ReaderPosition): AsyncGenerator<string, ReaderPosition> {
    const looking = { feed, log, retryMs, ending: () => signal, logger }
    const found = yield* pulse.meanwhile(findPlace(claimed, looking))
    if (found?.lost !== undefined) yield frames.gap('expired')
    return found?.place ?? claimed
  }

  async function* catchUp(reader: LogReader): AsyncGenerator<string, boolean> {
    const endTurn = takeTurn()
    if (endTurn === undefined) {
      yield frames.lagging()
      return false
    }
    catchingUp = true
    const { accountId } = showing
    const items = readPast(reader, {
      log,
      notErased: omitErased({ store, feed, logger, accountId, pendingMs, signal }),
      retryMs,
      signal,
      logger,
    })
    try {
      for (;;) {
        await nextTurn()
        const next = yield* pulse.meanwhile(items.next())
        if (next === undefined) return false
        if (next.done === true) {
          if (!next.value && !signal.aborted) yield frames.lagging()
          return next.value
        }
        if (next.value.kind === 'gap') yield frames.gap(next.value.reason)
        else yield* sendPast(next.value.entries, reader)
      }
    } finally {
      catchingUp = false
      endTurn()
      items.return(false).catch((error: unknown) => {
        logger.debug({ err: error }, 'could not close a history reader')
      })
    }
  }

  async function* sendPast(
    entries: Iterable<ReadEntry>,
    reader: LogReader,
  ): AsyncGenerator<string, void> {
    let chunk = ''
    for (const entry of entries) {
      chunk += frames.past(entry, reader)
      if (chunk.length < chunkBytes) continue
      yield chunk
      chunk = ''
      await nextTurn()
    }
    if (chunk !== '') yield chunk
  }

  async function* readRing(
    reader: LogReader,
    { placed }: { placed: boolean },
  ): AsyncGenerator<string, void> {
    live = reader
    reader.enterRing()
    // Gives the client an id from which it can resume.
    if (!placed) yield pulse.beatNow()
    while (!signal.aborted) {
      if (reader.isTooLate()) {
        metrics.streamCutOff.inc()
        yield frames.lagging(idAt(reader.place))
        return
      }
      let chunk = ''
      for (const entry of reader.fromRing(LOOKED_AT_ONCE)) {
        chunk += frames.live(entry, reader)
        if (chunk.length >= chunkBytes) break
      }
      const due = chunk === '' ? pulse.beat() : chunk
      if (due !== undefined) yield due
      else if (reader.isAtEnd()) await pulse.heard()
      if (chunk !== '' && reader.isAtEnd()) await gather()
      await nextTurn()
    }
  }

  async function gather(): Promise<void> {
    await pause(gatherMs, undefined, { signal, ref: false }).catch(() => undefined)
  }
}

/** Lets a reader wait for new work, its end, or the next heartbeat, whichever comes first. */
export function startPulse({
  heartbeatMs,
  mark,
  signal,
}: {
  heartbeatMs: number
  /** The reader's position, once it has one. */
  mark: () => string | undefined
  signal: AbortSignal
}) {
  let rung = false
  let due = false
  let wake: (() => void) | undefined
  const timer = setInterval(() => {
    due = true
    ring()
  }, heartbeatMs)
  timer.unref()
  if (signal.aborted) clearInterval(timer)
  signal.addEventListener('abort', () => {
    clearInterval(timer)
    ring()
  })

  return { ring, heard: waitForSignal, beat, beatNow: writeHeartbeat, meanwhile: beatDuring }

  /** Announces new work. If nobody waits, the signal is stored for the next wait. */
  function ring(): void {
    rung = true
    wake?.()
  }

  /** Resolves at the next signal. */
  async function waitForSignal(): Promise<void> {
    if (!rung) await new Promise<void>((resolve) => (wake = resolve))
    rung = false
    wake = undefined
  }

  function writeHeartbeat(): string {
    return heartbeatFrame(mark())
  }

  /** A heartbeat, if due. */
  function beat(): string | undefined {
    if (!due) return undefined
    due = false
    return writeHeartbeat()
  }

  /** The promise's result, with heartbeats while waiting. Undefined when the reader has ended. */
  async function* beatDuring<T>(work: Promise<T>): AsyncGenerator<string, T | undefined> {
    let settled = false
    const settle = () => {
      settled = true
      ring()
    }
    work.then(settle, settle)
    while (!settled && !signal.aborted) {
      await waitForSignal()
      const heartbeat = beat()
      if (heartbeat !== undefined) yield heartbeat
    }
    return settled ? work : undefined
  }
}
