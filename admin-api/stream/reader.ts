import { setTimeout as pause } from 'node:timers/promises'
import { hasReached, includes } from '../../event-log/offsets.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import type { ErasureEntry, PositionEntry } from '../../schemas/log-entry.ts'
import type { PositionReported } from '../../schemas/position-reported.ts'
import type { Store } from '../../store/store.ts'
import { notErased } from '../../event-log/follow/erased.ts'
import type { ReadableLog } from '../../event-log/follow/followed.ts'
import type { LiveFeed } from '../../event-log/follow/live-feed.ts'
import { lastEntry, writeMark, type ReaderPosition } from '../../event-log/follow/mark.ts'
import { readPast, type PastItem, type Wanted } from '../../event-log/follow/past.ts'
import { placeInLog, isStillThere } from '../../event-log/follow/place-in-log.ts'
import { startPulse } from './pulse.ts'
import type { GapReason, RingEntry } from '../../event-log/follow/ring.ts'
import { eventFrame, retryLine, type ChosenEvent, type StreamEventName } from './sse.ts'

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

/** The entries that a reader is shown, and how. */
export type Showing = {
  readonly accountId: string
  readonly events: ReadonlySet<ChosenEvent>
  /** Whether the entry is for this reader; some rejections name no device. */
  wants(subject: { readonly accountId: string; readonly deviceId?: string }): boolean
  /** Whether a position of the reader's devices is shown to it. */
  isShown(event: PositionReported): boolean
  /** The data of a position. */
  record(event: PositionReported): object
  /** Whether events carry marks of the log, from which it can resume. */
  readonly resumable: boolean
}

/** Ring entries that a reader looks at in one turn, also if none is for it. */
const LOOKED_AT_ONCE = 500

/**
 * One reader of the stream: a cursor into the ring, without a buffer. Ends when `signal`
 * is aborted. `takeTurn` takes a turn at catching up, if one is free, and returns the function that
 * ends it.
 */
export function streamReader({
  showing,
  resumeAfter,
  takeTurn,
  nextTurn,
  feed,
  joined,
  eventLog,
  store,
  logger,
  metrics,
  signal,
  options: { chunkBytes, heartbeatMs, gatherMs, retryMs, pendingMs },
}: {
  showing: Showing
  resumeAfter?: ReaderPosition
  takeTurn: () => (() => void) | undefined
  /** Waits until this reader may render and write a chunk. */
  nextTurn: () => Promise<void>
  feed: LiveFeed
  /**
   * Ring entries before this one are older than the reader: only those from the log are replayed.
   */
  joined: number
  eventLog: ReadableLog
  store: Pick<Store, 'erasuresOf'>
  logger: Logger
  metrics: Metrics
  signal: AbortSignal
  options: ReaderOptions
}): StreamReader {
  let place: ReaderPosition | undefined
  let catchingUp = false
  /** The next ring entry, once it reads from the ring. */
  let cursor: number | undefined
  /** Its place equalled the feed's when this entry was pushed, so frames can be shared. */
  let inStep = false
  const { accountId, resumable } = showing
  const events: ReadonlySet<string> = showing.events
  const wants = (name: string, subject: Parameters<Showing['wants']>[0]) =>
    events.has(name) && showing.wants(subject)
  const wanted: Wanted = {
    // History is no news.
    position: (event) =>
      event.imported !== true && wants('position', event) && showing.isShown(event),
    erasure: (event) => wants('device-erased', event),
  }
  const idAt = (at: ReaderPosition) => (resumable ? writeMark(at) : undefined)
  const mark = () => place && idAt(place)
  const pulse = startPulse({ heartbeatMs, mark, signal })

  return {
    frames: frames(),
    isCatchingUp: () => catchingUp,
    isTooLate: () => cursor !== undefined && cursor < feed.ring.first,
  }

  async function* frames(): AsyncGenerator<string, void> {
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
      yield gap('expired')
      return { offsets: found.place }
    }
    const place = found?.place ?? { ...offsets }
    if (last === undefined) return { offsets: place }
    // Then it most probably has read the entry itself.
    yield* pulse.meanwhile(feed.caughtUp)
    const isThere = yield* pulse.meanwhile(isStillThere(last, following))
    if (isThere !== false) return { offsets: place, last }
    yield gap('expired')
    // Where the client's log has left this one is unknown: it gets all that is at hand.
    return { offsets: { ...feed.ring.before } }
  }

  async function* catchUp(from: ReaderPosition): AsyncGenerator<string, boolean> {
    const endTurn = takeTurn()
    if (endTurn === undefined) {
      yield frame('lagging', COME_AGAIN)
      return false
    }
    catchingUp = true
    const items = readPast({
      eventLog,
      feed,
      place: from,
      wanted,
      retryMs,
      signal,
      logger,
      notErased: notErased({ store, feed, logger, accountId, pendingMs, signal }),
    })
    try {
      for (;;) {
        await nextTurn()
        const next = yield* pulse.meanwhile(items.next())
        if (next === undefined) return false
        if (next.done !== true) yield* past(next.value, from)
        else {
          if (!next.value && !signal.aborted) yield frame('lagging', COME_AGAIN)
          return next.value
        }
      }
    } finally {
      catchingUp = false
      endTurn()
      items.return(false).catch((error: unknown) => {
        logger.debug({ err: error }, 'a reader of the past did not end well')
      })
    }
  }

  async function* past(item: PastItem, at: ReaderPosition): AsyncGenerator<string, void> {
    if (item.kind === 'gap') {
      yield gap(item.reason)
      return
    }
    let chunk = ''
    for (const entry of item.entries) {
      at.offsets[entry.origin.partition] = entry.origin.offset
      at.last = lastEntry(entry)
      chunk += textOf(entry, at)
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
        yield frame('lagging', COME_AGAIN, idAt(at))
        return
      }
      let chunk = ''
      const until = Math.min(feed.ring.end, cursor + LOOKED_AT_ONCE)
      while (cursor < until && chunk.length < chunkBytes) {
        const entry = feed.ring.at(cursor)
        if (entry !== undefined) chunk += ringText(entry, at, cursor)
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

  function ringText(entry: RingEntry, at: ReaderPosition, number: number): string {
    if (entry.kind === 'aside') {
      if (number < joined || !wants(entry.name, entry)) return ''
      metrics.streamEvents.inc({ event: entry.name })
      return entry.text
    }
    if (entry.origin === undefined) {
      return entry.kind === 'gap' && number >= joined ? gap(entry.reason) : ''
    }
    if (entry.kind === 'gap') {
      const { partition, offset } = entry.origin
      if (entry.isBack !== true && includes(at.offsets, entry.origin)) return ''
      if (offset < 0) delete at.offsets[partition]
      else at.offsets[partition] = offset
      if (entry.isBack === true) at.last = undefined
      return gap(entry.reason)
    }
    if (includes(at.offsets, entry.origin)) return ''
    at.offsets[entry.origin.partition] = entry.origin.offset
    if (entry.kind !== 'erased') at.last = lastEntry(entry)
    if (entry.kind === 'erasure') return wanted.erasure(entry.event) ? textOf(entry, at) : ''
    if (entry.kind !== 'position' || !wanted.position(entry.event)) return ''
    if (!inStep || !resumable) return textOf(entry, at)
    if (entry.text === undefined) entry.text = textOf(entry, at)
    else metrics.streamEvents.inc({ event: 'position' })
    return entry.text
  }

  /** `after`: the place after the entry. */
  function textOf(entry: PositionEntry | ErasureEntry, after: ReaderPosition): string {
    if (entry.kind === 'position') {
      return frame('position', JSON.stringify(showing.record(entry.event)), idAt(after))
    }
    const { deviceId } = entry.event
    return frame('device-erased', JSON.stringify({ deviceId }), idAt(after))
  }

  function gap(reason: GapReason): string {
    return frame('gap', GAPS[reason])
  }

  function frame(event: StreamEventName, json: string, id?: string): string {
    metrics.streamEvents.inc({ event })
    return eventFrame(event, json, id)
  }
}

const GAPS = {
  expired: JSON.stringify({
    reason:
      'events after the Last-Event-ID are no longer in the log, or it is another log: what there is follows',
  }),
  unreadable: JSON.stringify({ reason: 'there are events that cannot be read: others follow' }),
}
const COME_AGAIN = JSON.stringify({
  reason: 'too much has come to be sent on this connection: connect again with the last id',
})
