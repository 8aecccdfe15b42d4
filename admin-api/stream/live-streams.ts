import type { Clock } from '../../runtime/clock.ts'
import { unavailable } from '../../runtime/errors.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import type { Metrics } from '../../runtime/process/metrics.ts'
import { repeatPeriodically } from '../../runtime/process/repeat.ts'
import type { Store } from '../../store/store.ts'
import { type AdminContext, runOnceAnswered } from '../http/admin-route.ts'
import { answerWithFrames, setHeaders } from '../http/answer-with-frames.ts'
import type { ReadableLog } from '../../event-log/event-log.ts'
import type { ReaderPosition } from '../../event-log/reading/mark.ts'
import { shareFeed, type JoinLive } from '../../event-log/reading/open-feeds.ts'
import { STREAM_OPTIONS, type StreamOptions } from './options.ts'
import { streamReader } from './reader.ts'
import { accountWatches } from './account-watches.ts'
import type { Showing } from './frames.ts'
import { seats, limitChunksPerTurn, type LinkSeatOwner, type SeatOwner } from './seats.ts'

export type StreamDependencies = {
  readonly store: Store
  readonly eventLog: Pick<ReadableLog, 'tail' | 'extent'>
  readonly factLog: Pick<ReadableLog, 'tail' | 'extent'>
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly stopping: AbortSignal
  /** Overrides of the service's defaults. */
  readonly stream?: Partial<StreamOptions>
}

/** All live streams of this process. */
export type LiveStreams = {
  readonly options: StreamOptions
  /**
   * Responds with a stream until the client disconnects or loses access.
   *
   * @throws {ApiError} 429 if there are too many streams, 503 while the process stops.
   */
  open(ctx: AdminContext, reader: StreamOpening): Promise<void>
  /** Join the live readers of the event log and of the fact log. */
  readonly joinEvents: JoinLive
  readonly joinFacts: JoinLive
  /**
   * Reserves a seat for a call that waits like a stream; the returned function frees it.
   * @throws {ApiError} 429 if there are too many.
   */
  takeSeat(owner: SeatOwner): () => void
  /** Takes a slot for reading the past, if one is free; the returned function frees it. */
  takeTurn(accountId: string): (() => void) | undefined
  /** The variable that this process lacked to read an entry of the log, if any. */
  missingVariable(): string | undefined
}

export type StreamOpening = {
  readonly showing: Showing
  readonly seat: SeatOwner | LinkSeatOwner
  readonly resumeAfter?: ReaderPosition | undefined
  /** Called every `checkEveryMs`. */
  readonly mayStillRead: () => Promise<boolean>
  readonly checkEveryMs: number
}

export function liveStreams(deps: StreamDependencies): LiveStreams {
  const { logger, metrics, stopping } = deps
  const options: StreamOptions = { ...STREAM_OPTIONS, ...deps.stream }
  const joinFacts = shareFeed(deps.factLog, { ...deps, ...options })
  const joinEvents = shareFeed(deps.eventLog, {
    ...deps,
    ...options,
    onReport: (event, origin) => watches.statusesOf(event.accountId)?.reported(event, origin),
    onUnreadable({ missing }) {
      metrics.streamUnreadable.inc()
      missingVariable = missing ?? missingVariable
    },
  })
  const watches = accountWatches({ ...deps, joinEvents, joinFacts, options })
  let missingVariable: string | undefined
  const places = seats(options)
  const nextTurn = limitChunksPerTurn()
  const readers = new Set<AbortController>()
  stopping.addEventListener('abort', () => {
    for (const reader of readers) reader.abort()
  })

  async function open(
    ctx: AdminContext,
    { showing, seat, resumeAfter, mayStillRead, checkEveryMs }: StreamOpening,
  ): Promise<void> {
    const { accountId, events } = showing
    if (stopping.aborted) throw unavailable('the service is stopping, please connect again')
    if (ctx.method === 'HEAD') return setHeaders(ctx)
    const ending = endOf(ctx)
    const { signal } = ending
    onceEnded(signal, places.take(seat))
    const { feed, leave } = joinEvents()
    onceEnded(signal, leave)
    const joined = feed.hasBegun() ? feed.ring.end : 0
    onceEnded(signal, watches.follow(accountId, events))
    await feed.until(feed.hasBegun, { signal, forMs: options.beginsWithinMs })
    const late = resumeAfter !== undefined && feed.hasBegun() && !feed.holds(resumeAfter.offsets)
    let turn = late ? places.turn(accountId) : undefined
    if (late && turn === undefined) {
      throw unavailable('too many streams are catching up, please connect again')
    }
    onceEnded(signal, () => turn?.())

    const reader = streamReader(deps, {
      showing,
      resumeAfter,
      feed,
      joined,
      takeTurn() {
        const taken = turn ?? places.turn(accountId)
        turn = undefined
        return taken
      },
      nextTurn,
      signal,
      options,
    })
    const { chunkBytes } = options
    const stalledForMs = answerWithFrames(ctx, reader.frames, { signal, chunkBytes })
    repeatPeriodically({
      what: 'access and progress of a stream reader',
      everyMs: checkEveryMs,
      async task() {
        const ms = await stalledForMs()
        const stalled =
          (reader.isCatchingUp() && ms > options.stalledCatchingUpMs) ||
          (reader.isTooLate() && ms > options.stalledMs)
        if (stalled) metrics.streamCutOff.inc()
        if (stalled || !(await mayStillRead())) ending.abort()
      },
      signal,
      logger,
    }).catch(() => ending.abort())
  }

  /** Aborted when the client disconnects, the process shuts down, or the stream must end. */
  function endOf(ctx: AdminContext): AbortController {
    const ending = new AbortController()
    readers.add(ending)
    metrics.streamReaders.set(readers.size)
    onceEnded(ending.signal, () => {
      readers.delete(ending)
      metrics.streamReaders.set(readers.size)
    })
    runOnceAnswered(ctx, () => ending.abort())
    return ending
  }

  return {
    options,
    open,
    joinEvents,
    joinFacts,
    takeSeat: (owner) => places.take(owner),
    takeTurn: (accountId) => places.turn(accountId),
    missingVariable: () => missingVariable,
  }
}

function onceEnded(signal: AbortSignal, work: () => void): void {
  if (signal.aborted) work()
  else signal.addEventListener('abort', work, { once: true })
}
