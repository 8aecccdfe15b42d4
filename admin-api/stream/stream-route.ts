import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../runtime/clock.ts'
import { unavailable } from '../../runtime/http.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { periodically } from '../../runtime/periodically.ts'
import { isListed } from '../../schemas/device-list.ts'
import type { Store } from '../../store/store.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import { requireRight } from '../http/authorize.ts'
import { callerId, deviceList, type Caller } from '../http/caller.ts'
import { onceAnswered } from '../http/once-answered.ts'
import { textParameter } from '../http/query.ts'
import { recordView } from '../http/views.ts'
import { parsed, type InputOf } from '../http/rule.ts'
import { channel } from './channel.ts'
import { answerWithFrames, setHeaders } from './connection.ts'
import { lastEventId } from './last-event-id.ts'
import type { ReadableLog } from './live-feed.ts'
import { STREAM_OPTIONS, type StreamOptions } from './options.ts'
import { streamReader } from './reader.ts'
import { seats } from './seats.ts'
import { CHOSEN_EVENTS, USUAL_EVENTS, type ChosenEvent } from './sse.ts'
import { standing } from './standing.ts'

const FILTER = {
  deviceId: textParameter('deviceId', 128).described('Only what is about this device'),
  events: parsed({
    parse: parseEvents,
    expected: `events must be one or more of ${CHOSEN_EVENTS.join(', ')}, separated by commas`,
    openapi: {
      type: 'string',
      pattern: `^(${CHOSEN_EVENTS.join('|')})(,(${CHOSEN_EVENTS.join('|')}))*$`,
      examples: ['position,rejection'],
    },
  }).described(
    `Which events come, separated by commas; ${[...USUAL_EVENTS].join(' and ')} where it is not given`,
  ),
}

export type StreamDependencies = {
  readonly store: Store
  readonly eventLog: ReadableLog
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly stopping: AbortSignal
  /** Overrides of the service's defaults. */
  readonly stream?: Partial<StreamOptions>
}

/** Positions and device statuses as they arrive. */
export function streamRoutes(deps: StreamDependencies): AdminRoute[] {
  const { store, eventLog, logger, metrics, stopping } = deps
  const options: StreamOptions = { ...STREAM_OPTIONS, ...deps.stream }
  const shared = channel({ ...deps, options })
  const places = seats(options)
  const mayStillRead = standing({ ...deps, sharedMs: options.sharedCheckMs })
  const readers = new Set<AbortController>()
  stopping.addEventListener('abort', () => {
    for (const reader of readers) reader.abort()
  })

  async function open(
    ctx: AdminContext,
    caller: Caller,
    { query: { deviceId, events = USUAL_EVENTS } }: Input<InputOf<typeof FILTER>>,
  ): Promise<void> {
    const { accountId } = caller
    const devices = deviceList(caller)
    if (events.has('rejection')) requireRight(caller, { needs: 'viewer' })
    const resumeAfter = lastEventId(ctx)
    if (stopping.aborted) throw unavailable('the service is stopping, please connect again')
    if (ctx.method === 'HEAD') return setHeaders(ctx)
    const ending = endOf(ctx)
    const { signal } = ending
    onceEnded(signal, places.take({ accountId, callerId: callerId(caller) }))
    const { feed, joined, leave } = shared.join({ accountId, events })
    onceEnded(signal, leave)
    await Promise.race([
      feed.began,
      pause(options.beginsWithinMs, undefined, { signal, ref: false }).catch(() => undefined),
    ])
    const late = resumeAfter !== undefined && feed.hasBegun() && !feed.holds(resumeAfter)
    let turn = late ? places.turn(accountId) : undefined
    if (late && turn === undefined) {
      throw unavailable('too many streams are catching up, please connect again')
    }
    onceEnded(signal, () => turn?.())

    const reader = streamReader({
      showing: {
        accountId,
        events,
        wants: (subject) =>
          subject.accountId === accountId &&
          (deviceId === undefined || subject.deviceId === deviceId) &&
          isListed(devices, subject.deviceId ?? ''),
        record: recordView,
        resumable: true,
      },
      ...(resumeAfter !== undefined && { resumeAfter }),
      takeTurn() {
        const taken = turn ?? places.turn(accountId)
        turn = undefined
        return taken
      },
      feed,
      joined,
      eventLog,
      store,
      logger,
      metrics,
      signal,
      options,
    })
    const { chunkBytes } = options
    const stalledForMs = answerWithFrames(ctx, reader.frames, { signal, chunkBytes })
    periodically({
      what: 'whether a reader of the live stream may go on',
      everyMs: options.checkEveryMs,
      async task() {
        const stalled =
          (reader.isCatchingUp() && stalledForMs() > options.stalledCatchingUpMs) ||
          (reader.isTooLate() && stalledForMs() > options.stalledMs)
        if (stalled) metrics.streamCutOff.inc()
        if (stalled || !(await mayStillRead(ctx, caller))) ending.abort()
      },
      signal,
      logger,
    }).catch(() => ending.abort())
  }

  /** Aborted when the client disconnects, the process shuts down, or the stream is to end. */
  function endOf(ctx: AdminContext): AbortController {
    const ending = new AbortController()
    readers.add(ending)
    metrics.streamReaders.set(readers.size)
    onceEnded(ending.signal, () => {
      readers.delete(ending)
      metrics.streamReaders.set(readers.size)
    })
    onceAnswered(ctx, () => ending.abort())
    return ending
  }

  return [
    route({
      method: 'GET',
      path: '/stream',
      summary: 'Positions, device statuses and more as they come',
      description: DESCRIPTION,
      needs: 'viewer',
      scope: 'positions:read',
      query: FILTER,
      answer: {
        content: { 'text/event-stream': { type: 'string', description: 'Server-Sent Events' } },
      },
      errors: ['INVALID_PARAMS', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE'],
      handle: open,
    }),
  ]
}

const DESCRIPTION = `Server-Sent Events (WHATWG HTML, section 9.2). It does not end by itself.

| event | data |
| --- | --- |
| \`position\` | A record, once it is in the log. Its \`id\` is an opaque mark of the place in the log |
| \`device-status\` | A device whose last position or status has changed, at most 10 s late. It has no \`id\` and is not replayed |
| \`rejection\` | A refused report, as in the list of rejections. It has no \`id\` and is not replayed; one may come twice and is known by its \`rejectionId\`. For operators, and for API keys with the scope \`admin\` |
| \`device-erased\` | \`{deviceId}\` of a device that an operator has erased. Its \`id\` is a mark like a position's |
| \`heartbeat\` | \`{}\`, at once and every 15 s. Its \`id\` moves the place in the log on |
| \`gap\` | Events after the \`Last-Event-ID\` are no longer in the log: what there is follows |
| \`lagging\` | The connection is too slow and ends: connect again with the last \`id\` |

A client that sends the last \`id\` it has seen in the header \`Last-Event-ID\`, as browsers do when
they connect again, misses no position and no erasure; a record may come twice and is known by its \`recordId\`.
Records of erased devices are not replayed.`

function parseEvents(text: string): ReadonlySet<ChosenEvent> | undefined {
  const names = text.split(',')
  const known = CHOSEN_EVENTS.filter((event) => names.includes(event))
  return known.length === names.length ? new Set(known) : undefined
}

function onceEnded(signal: AbortSignal, work: () => void): void {
  if (signal.aborted) work()
  else signal.addEventListener('abort', work, { once: true })
}
